"""Collect the commands, flags and possible values for shell completion."""

from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.event import EVENT_KINDS, EVENT_TYPES
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import OUTPUT_FORMATS, CommandArgument, list_arguments
from termvisor.ops.api.operation import CLI_ONLY_COMMANDS, CLI_ONLY_WORDS, COMMAND_GROUPS, Operation
from termvisor.settings import list_settings

# Values that are not a fixed list: panes from the daemon, file names, anything.
PANE_VALUE, PATH_VALUE, ANY_VALUE = "@pane", "@path", "@any"
# Global flags with their possible values; empty for a switch.
GLOBAL_FLAGS = {
    "--format": " ".join(OUTPUT_FORMATS),
    "--fields": ANY_VALUE,
    **dict.fromkeys(("--json", "--full", "--quiet", "-q", "--help", "-h"), ""),
}


class CompletionCommand(Struct, frozen=True, kw_only=True):
    """``flags`` and ``positional`` hold the possible values: words separated by spaces, one of the constants above, or
    empty for none.
    """

    name: str
    doc: str
    aliases: tuple[str, ...] = ()
    flags: dict[str, str] = {}
    docs: dict[str, str] = {}
    positional: str = ""
    """Possible values of the first positional."""


def list_commands() -> Iterator[CompletionCommand]:
    for op in catalog.load_all_operations():
        yield _build_command(op)
    for name, doc in CLI_ONLY_COMMANDS:
        words = CLI_ONLY_WORDS.get(name, ())
        # The only flag of these commands that takes a value.
        flags = {word: ANY_VALUE if word == "--interval" else "" for word in words if word.startswith("-")}
        yield CompletionCommand(
            name=name, doc=doc, flags=flags, positional=" ".join(word for word in words if word not in flags)
        )


def _build_command(op: Operation) -> CompletionCommand:
    arguments = list_arguments(op.args_type)
    positionals = [argument for argument in arguments if argument.is_positional]
    options = [(flag, argument) for argument in arguments if not argument.is_positional for flag in argument.flags]
    return CompletionCommand(
        name=op.command,
        doc=op.summary,
        aliases=tuple(dict.fromkeys(name for name in (*op.aliases, op.robot_name or "") if _is_alias(name, op))),
        flags={flag: "" if argument.is_switch else _get_value_words(argument) for flag, argument in options},
        docs={flag: argument.doc for flag, argument in options},
        positional=_get_value_words(positionals[0]) if positionals else "",
    )


def _is_alias(name: str, op: Operation) -> bool:
    return name not in ("", op.command) and not name.startswith("-")


def _get_value_words(argument: CommandArgument) -> str:
    if argument.choices:
        return " ".join(argument.choices)
    if argument.value_kind == "setting":
        return " ".join(
            f"{setting.name} {'.'.join(setting.place)}{'.' if setting.example else ''}" for setting in list_settings()
        )
    if argument.value_kind == "event":
        return " ".join((*EVENT_KINDS, *EVENT_TYPES))
    return {"pane": PANE_VALUE, "path": PATH_VALUE}.get(argument.value_kind, ANY_VALUE)


def list_first_words() -> dict[str, str]:
    """Return the possible first words after `visor`, with their descriptions."""
    commands = {command.name: command.doc for command in list_commands() if " " not in command.name}
    aliases = {
        alias: command.doc
        for command in list_commands()
        for alias in command.aliases
        if alias in catalog.COMMAND_ALIASES
    }
    groups = {group: f"Commands: {', '.join(list_group_members(group))}." for group in COMMAND_GROUPS}
    return dict(sorted((commands | aliases | groups).items()))


def list_group_members(group: str) -> dict[str, str]:
    """Return the subcommands of a group, with their descriptions."""
    return {
        command.name.removeprefix(f"{group} "): command.doc
        for command in list_commands()
        if command.name.startswith(f"{group} ")
    }


def list_robot_words() -> dict[str, str]:
    """Return the possible first words after `visor robot`, with their descriptions."""
    cli_only = dict(CLI_ONLY_COMMANDS)
    words = {word: doc for word, doc in list_first_words().items() if word not in cli_only}
    robot_names = catalog.OPERATIONS_BY_ROBOT_NAME.items()
    words |= {robot_name: catalog.load_operation(name).summary for robot_name, name in robot_names}
    return dict(sorted(words.items()))


def fill_template(template: str, parts: dict[str, str]) -> str:
    """Replace each ``@name@`` in a script with its part."""
    for name, part in parts.items():
        template = template.replace(f"@{name}@", part)
    return template
