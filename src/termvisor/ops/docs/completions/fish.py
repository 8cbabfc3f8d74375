"""Generate the completion script for fish: one `complete` line per word and flag, with its condition."""

from collections.abc import Iterator

from termvisor.ops.api.operation import COMMAND_GROUPS
from termvisor.ops.docs.completions import completion_command

_SCRIPT_HEAD = r"""# Completion of visor for fish. Load it with: visor completion fish | source

# Print the command of the current line, without `robot`; a group and its subcommand are one key.
function __visor_key
    set -l key
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if test "$word" = --format
            set is_value 1
        else if string match -q -- '-*' $word
            continue
        else if test -z "$key"; and test "$word" = robot
            continue
        else if test -z "$key"
            switch $word
@names@
                case '*'
                    set key $word
            end
        else if contains -- "$key" @groups@
            set key "$key $word"
        end
    end
    echo $key
end

function __visor_at
    set -l key (__visor_key)
    test "$key" = "$argv"
end

function __visor_is_robot
    set -l line (commandline -opc)
    test "$line[2]" = robot
end

function __visor_panes
    visor completion panes -q 2>/dev/null </dev/null
end

complete -c visor -f
complete -c visor -l format -x -a 'auto json markdown plain' -d 'Output format.'
complete -c visor -l json -d 'Short for --format json.'
complete -c visor -s q -l quiet -d 'Print only the result.'
complete -c visor -s h -l help -d 'Show help.'
"""


def render_script() -> str:
    commands = list(completion_command.list_commands())
    names = "\n".join(
        f"                case {_quote(alias)}\n                    set key {_quote(command.name)}"
        for command in commands
        for alias in command.aliases
    )
    head = _SCRIPT_HEAD.replace("@names@", names).replace("@groups@", " ".join(sorted(COMMAND_GROUPS)))
    lines = [*_render_words(), *(line for command in commands for line in _render_command(command))]
    return head + "\n".join(lines) + "\n"


def _render_words() -> Iterator[str]:
    for word, doc in completion_command.list_first_words().items():
        yield f"complete -c visor -n '__visor_at \"\"; and not __visor_is_robot' -a {_quote(word)} -d {_quote(doc)}"
    for word, doc in completion_command.list_robot_words().items():
        yield f"complete -c visor -n '__visor_at \"\"; and __visor_is_robot' -a {_quote(word)} -d {_quote(doc)}"
    for group in sorted(COMMAND_GROUPS):
        for word, doc in completion_command.list_group_members(group).items():
            yield f"complete -c visor -n '__visor_at {group}' -a {_quote(word)} -d {_quote(doc)}"


def _render_command(command: completion_command.CompletionCommand) -> Iterator[str]:
    at = f"complete -c visor -n '__visor_at {command.name}'"
    for flag, spec in command.flags.items():
        name = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        yield f"{at} {name}{_render_value_options(spec)} -d {_quote(command.docs.get(flag, ''))}"
    if command.positional not in ("", completion_command.ANY_VALUE):
        yield f"{at}{_render_value_options(command.positional).replace(' -x', '').replace(' -r -F', ' -F')}"


def _render_value_options(values: str) -> str:
    """Return the options of `complete` for possible values."""
    if values in ("", completion_command.ANY_VALUE):
        return "" if values == "" else " -x"
    if values == completion_command.PATH_VALUE:
        return " -r -F"
    return " -x -a '(__visor_panes)'" if values == completion_command.PANE_VALUE else f" -x -a {_quote(values)}"


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
