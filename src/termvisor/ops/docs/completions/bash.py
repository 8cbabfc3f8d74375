"""Generate the completion script for bash."""

from shlex import quote

from termvisor.ops.api.operation import COMMAND_GROUPS
from termvisor.ops.docs.completions import completion_command

_SCRIPT_TEMPLATE = r"""# Completion of visor for bash. Load it with: source <(visor completion bash)

# Print the possible values of a flag; fail if it takes none.
_visor_value() {
    case "$1 $2" in
@values@
    esac
    case "$2" in
@everywhere@
    esac
    return 1
}

_visor_flags() {
    case "$1" in
@flags@
    esac
}

_visor_place() {
    case "$1" in
@places@
    esac
}

_visor_offer() {
    local IFS=$' \t\n' line
    case "$2" in
        @pane)
            while IFS= read -r line; do
                line=${line%%$'\t'*}
                [[ $line == "$3"* ]] && COMPREPLY+=("$line")
            done < <("$1" completion panes -q 2>/dev/null </dev/null)
            ;;
        @path) compopt -o default 2>/dev/null ;;
        @any | '') ;;
        *) COMPREPLY=($(compgen -W "$2" -- "$3")) ;;
    esac
}

_visor() {
    local program=$1 cur=${COMP_WORDS[COMP_CWORD]} prev= key= spec= is_robot= place=0 i word
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $prev ]]; then
            [[ $word == "=" ]] || prev=
        elif [[ $word == -* ]]; then
            _visor_value "$key" "$word" >/dev/null && prev=$word
        elif [[ -z $key && $word == robot ]]; then
            is_robot=1
        elif [[ -z $key ]]; then
            key=$word
            case "$key" in
@names@
            esac
        elif [[ " @groups@ " == *" $key "* ]]; then
            key="$key $word"
        else
            place=$((place + 1))
        fi
    done
    [[ $cur == "=" ]] && cur=
    if [[ -n $prev ]]; then
        spec=$(_visor_value "$key" "$prev")
    elif [[ $cur == -* ]]; then
        spec="$(_visor_flags "$key") @all@"
    elif [[ -z $key && -n $is_robot ]]; then
        spec=@robot_words@
    elif [[ -z $key ]]; then
        spec=@first_words@
    elif [[ $place == 0 ]]; then
        spec=$(_visor_place "$key")
    fi
    _visor_offer "$program" "$spec" "$cur"
}

complete -F _visor visor
"""


def render_script() -> str:
    commands = list(completion_command.list_commands())
    values = [(f"{command.name} {flag}", spec) for command in commands for flag, spec in command.flags.items() if spec]
    groups = [(group, " ".join(completion_command.list_group_members(group))) for group in sorted(COMMAND_GROUPS)]
    parts = {
        "values": _render_cases(values, "return"),
        "everywhere": _render_cases(
            [(flag, spec) for flag, spec in completion_command.GLOBAL_FLAGS.items() if spec], "return"
        ),
        "flags": _render_cases([(command.name, " ".join(command.flags)) for command in commands if command.flags]),
        "places": _render_cases(
            [*groups, *((command.name, command.positional) for command in commands if command.positional)]
        ),
        "names": "\n".join(
            f"                {quote(alias)}) key={quote(command.name)} ;;"
            for command in commands
            for alias in command.aliases
        ),
        "groups": " ".join(sorted(COMMAND_GROUPS)),
        "all": " ".join(completion_command.GLOBAL_FLAGS),
        "first_words": quote(" ".join(completion_command.list_first_words())),
        "robot_words": quote(" ".join(completion_command.list_robot_words())),
    }
    return completion_command.fill_template(_SCRIPT_TEMPLATE, parts)


def _render_cases(pairs: list[tuple[str, str]], end: str = "") -> str:
    after = f"; {end}" if end else ""
    return "\n".join(f"        {quote(key)}) echo {quote(spec)}{after} ;;" for key, spec in pairs)
