"""A command as completion knows it: its names, its flags, and what may stand behind them."""

from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.event import EVENT_KINDS
from termvisor.model.event_types import EVENT_TYPES
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import CommandArgument, list_arguments
from termvisor.ops.api.global_options import OUTPUT_FORMATS
from termvisor.ops.api.operation import CLI_ONLY_COMMANDS, CLI_ONLY_WORDS, COMMAND_GROUPS, Operation
from termvisor.settings import list_settings

PANE_VALUE, PATH_VALUE, ANY_VALUE = "@pane", "@path", "@any"
"""Values that are no list of words: asked of the daemon, files, or nothing we know."""
GLOBAL_FLAGS = {"--format": " ".join(OUTPUT_FORMATS), "--json": "", "--quiet": "", "-q": "", "--help": "", "-h": ""}
"""Flags of every command with what their value may be; the empty text: they take none."""


class CompletionCommand(Struct, frozen=True, kw_only=True):
    """``flags`` and ``place`` say what a value may be: words between blanks, one of the names above, or empty: none."""

    name: str
    doc: str
    aliases: tuple[str, ...] = ()
    flags: dict[str, str] = {}
    docs: dict[str, str] = {}
    positional: str = ""
    """What the first word that is no flag may be."""


def list_commands() -> Iterator[CompletionCommand]:
    for op in catalog.load_all_operations():
        yield _build_command(op)
    for name, doc in CLI_ONLY_COMMANDS:
        words = CLI_ONLY_WORDS.get(name, ())
        flags = {word: ANY_VALUE if word == "--interval" else "" for word in words if word.startswith("-")}
        yield CompletionCommand(
            name=name, doc=doc, flags=flags, positional=" ".join(word for word in words if word not in flags)
        )


def _build_command(op: Operation) -> CompletionCommand:
    known = list_arguments(op.args_type)
    places = [argument for argument in known if argument.is_positional]
    named = [(flag, argument) for argument in known if not argument.is_positional for flag in argument.flags]
    return CompletionCommand(
        name=op.command,
        doc=op.summary,
        aliases=tuple(dict.fromkeys(name for name in (*op.aliases, op.robot_name or "") if _is_alias(name, op))),
        flags={flag: "" if argument.is_switch else _get_value_words(argument) for flag, argument in named},
        docs={flag: argument.doc for flag, argument in named},
        positional=_get_value_words(places[0]) if places else "",
    )


def _is_alias(name: str, op: Operation) -> bool:
    return name not in ("", op.command) and not name.startswith("-")


def _get_value_words(argument: CommandArgument) -> str:
    if argument.choices:
        return " ".join(argument.choices)
    if argument.value_kind == "setting":
        return " ".join(row.name for row in list_settings())
    if argument.value_kind == "event":
        return " ".join((*EVENT_KINDS, *EVENT_TYPES))
    return {"pane": PANE_VALUE, "path": PATH_VALUE}.get(argument.value_kind, ANY_VALUE)


def list_first_words() -> dict[str, str]:
    """What may stand right behind `visor`, with its meaning."""
    whole = {command.name: command.doc for command in list_commands() if " " not in command.name}
    short = {
        alias: command.doc
        for command in list_commands()
        for alias in command.aliases
        if alias in catalog.COMMAND_ALIASES
    }
    return dict(
        sorted(
            (
                whole
                | short
                | {group: f"Commands: {', '.join(list_group_members(group))}." for group in COMMAND_GROUPS}
            ).items()
        )
    )


def list_group_members(group: str) -> dict[str, str]:
    """What may stand behind a group's name."""
    return {
        command.name.removeprefix(f"{group} "): command.doc
        for command in list_commands()
        if command.name.startswith(f"{group} ")
    }


def list_robot_words() -> dict[str, str]:
    """What may stand right behind `visor robot`."""
    face = dict(CLI_ONLY_COMMANDS)
    words = {word: doc for word, doc in list_first_words().items() if word not in face}
    return dict(
        sorted(
            (
                words
                | {
                    name: catalog.load_operation(known).summary
                    for name, known in catalog.OPERATIONS_BY_ROBOT_NAME.items()
                }
            ).items()
        )
    )
