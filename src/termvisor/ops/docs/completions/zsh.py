"""Generate the completion script for zsh: associative arrays, and one function that reads them."""

from termvisor.ops.api.operation import COMMAND_GROUPS
from termvisor.ops.docs.completions.completion_command import (
    GLOBAL_FLAGS,
    fill_template,
    list_commands,
    list_first_words,
    list_group_members,
    list_robot_words,
)

_SCRIPT_TEMPLATE = r"""#compdef visor
# Completion of visor for zsh. Load it with: source <(visor completion zsh), after compinit.

typeset -gA _visor_names _visor_values _visor_flags _visor_places
_visor_names=(
@names@
)
_visor_values=(
@values@
)
_visor_flags=(
@flags@
)
_visor_places=(
@places@
)

# Offer words with descriptions; one `word:description` per line.
_visor_describe() {
    local -a offered
    offered=("${(@f)1}")
    _describe -t words word offered
}

_visor_offer() {
    local -a offered
    local tab=$'\t'
    case "$2" in
        @pane)
            offered=("${(@f)$("$1" completion panes -q 2>/dev/null </dev/null)}")
            offered=("${(@)offered/$tab/:}")
            [[ -n "$offered" ]] && _describe -V -t panes pane offered
            ;;
        @path) _files ;;
        @any | '') _message value ;;
        *) compadd -- ${=2} ;;
    esac
}

_visor() {
    local program=$words[1] cur=$words[CURRENT] prev= key= is_robot= place=0 i word
    for ((i = 2; i < CURRENT; i++)); do
        word=$words[i]
        if [[ -n $prev ]]; then
            prev=
        elif [[ $word == -* ]]; then
            [[ $word != *=* && -n "${_visor_values[$key $word]-$_visor_values[ $word]}" ]] && prev=$word
        elif [[ -z $key && $word == robot ]]; then
            is_robot=1
        elif [[ -z $key ]]; then
            key=${_visor_names[$word]-$word}
        elif [[ " @groups@ " == *" $key "* ]]; then
            key="$key $word"
        else
            place=$((place + 1))
        fi
    done
    if [[ -z $prev && $cur == --*=* ]]; then
        prev=${cur%%=*}
        compset -P '*='
    fi
    if [[ -n $prev ]]; then
        _visor_offer "$program" "${_visor_values[$key $prev]-$_visor_values[ $prev]}"
    elif [[ $cur == -* ]]; then
        _visor_describe "${_visor_flags[$key]:+$_visor_flags[$key]
}$_visor_flags[-]"
    elif [[ -z $key && -n $is_robot ]]; then
        _visor_describe "$_visor_flags[robot-words]"
    elif [[ -z $key ]]; then
        _visor_describe "$_visor_flags[words]"
    elif [[ " @groups@ " == *" $key "* ]]; then
        _visor_describe "$_visor_places[$key]"
    elif [[ $place == 0 ]]; then
        _visor_offer "$program" "$_visor_places[$key]"
    fi
}

if [[ "$funcstack[1]" == _visor ]]; then _visor "$@"; else compdef _visor visor; fi
"""


def render_script() -> str:
    commands = list(list_commands())
    values = [(f"{command.name} {flag}", spec) for command in commands for flag, spec in command.flags.items() if spec]
    flags = [
        (command.name, _render_descriptions({flag: command.docs.get(flag, "") for flag in command.flags}))
        for command in commands
        if command.flags
    ]
    lists = [("-", GLOBAL_FLAGS), ("words", list_first_words()), ("robot-words", list_robot_words())]
    groups = [(group, _render_descriptions(list_group_members(group))) for group in sorted(COMMAND_GROUPS)]
    parts = {
        "names": _render_pairs([(alias, command.name) for command in commands for alias in command.aliases]),
        "values": _render_pairs([*values, *((f" {flag}", spec) for flag, spec in GLOBAL_FLAGS.items() if spec)]),
        "flags": _render_pairs(
            [*flags, *((name, _render_descriptions(words, is_plain=name == "-")) for name, words in lists)]
        ),
        "places": _render_pairs(
            [*groups, *((command.name, command.positional) for command in commands if command.positional)]
        ),
        "groups": " ".join(sorted(COMMAND_GROUPS)),
    }
    return fill_template(_SCRIPT_TEMPLATE, parts)


def _render_descriptions(words: dict[str, str], *, is_plain: bool = False) -> str:
    return "\n".join(f"{word}:{'' if is_plain else text}".rstrip(":") for word, text in words.items())


def _render_pairs(pairs: list[tuple[str, str]]) -> str:
    return "\n".join(f"{_quote(key)} {_quote(value)}" for key, value in pairs)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
