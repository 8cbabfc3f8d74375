"""The script for fish: one `complete` a word or flag, each with the condition under which it may stand."""

from collections.abc import Iterator

from termvisor.ops.api.operation import GROUPS
from termvisor.ops.docs.completions.command import ANY, PANE, PATH, Command, commands, first_words, members, robot_words

_HEAD = r"""# Completion of visor for fish. Use it with: visor completion fish | source

# The command that the line has so far: `robot` is left out, a group and its word are one.
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
complete -c visor -l format -x -a 'auto json markdown plain' -d 'How to answer.'
complete -c visor -l json -d 'Short for --format json.'
complete -c visor -s q -l quiet -d 'Only the answer itself.'
complete -c visor -s h -l help -d 'What the command does.'
"""


def script() -> str:
    found = list(commands())
    names = "\n".join(
        f"                case {_quoted(name)}\n                    set key {_quoted(one.name)}"
        for one in found
        for name in one.also
    )
    head = _HEAD.replace("@names@", names).replace("@groups@", " ".join(sorted(GROUPS)))
    lines = [*_words(), *(line for one in found for line in _command(one))]
    return head + "\n".join(lines) + "\n"


def _words() -> Iterator[str]:
    for word, doc in first_words().items():
        yield f"complete -c visor -n '__visor_at \"\"; and not __visor_is_robot' -a {_quoted(word)} -d {_quoted(doc)}"
    for word, doc in robot_words().items():
        yield f"complete -c visor -n '__visor_at \"\"; and __visor_is_robot' -a {_quoted(word)} -d {_quoted(doc)}"
    for group in sorted(GROUPS):
        for word, doc in members(group).items():
            yield f"complete -c visor -n '__visor_at {group}' -a {_quoted(word)} -d {_quoted(doc)}"


def _command(one: Command) -> Iterator[str]:
    at = f"complete -c visor -n '__visor_at {one.name}'"
    for flag, spec in one.flags.items():
        name = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        yield f"{at} {name}{_value(spec)} -d {_quoted(one.docs.get(flag, ''))}"
    if one.place not in ("", ANY):
        yield f"{at}{_value(one.place).replace(' -x', '').replace(' -r -F', ' -F')}"


def _value(spec: str) -> str:
    """The options of `complete` for such a value."""
    if spec in ("", ANY):
        return "" if spec == "" else " -x"
    if spec == PATH:
        return " -r -F"
    return " -x -a '(__visor_panes)'" if spec == PANE else f" -x -a {_quoted(spec)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
