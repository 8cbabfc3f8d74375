"""A command as completion knows it: its names, its flags, and what may stand behind them."""

from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.event import EVENT_KINDS
from termvisor.model.event_types import EVENT_TYPES
from termvisor.ops.api import catalog as catalogue
from termvisor.ops.api.arguments import Argument, arguments
from termvisor.ops.api.global_options import FORMATS
from termvisor.ops.api.operation import FACE_COMMANDS, FACE_WORDS, GROUPS, Op
from termvisor.settings import rows

PANE, PATH, ANY = "@pane", "@path", "@any"
"""Values that are no list of words: asked of the daemon, files, or nothing we know."""
EVERYWHERE = {"--format": " ".join(FORMATS), "--json": "", "--quiet": "", "-q": "", "--help": "", "-h": ""}
"""Flags of every command with what their value may be; the empty text: they take none."""


class Command(Struct, frozen=True, kw_only=True):
    """``flags`` and ``place`` say what a value may be: words between blanks, one of the names above, or empty: none."""

    name: str
    doc: str
    also: tuple[str, ...] = ()
    flags: dict[str, str] = {}
    docs: dict[str, str] = {}
    place: str = ""
    """What the first word that is no flag may be."""


def commands() -> Iterator[Command]:
    for op in catalogue.every():
        yield _command(op)
    for name, doc in FACE_COMMANDS:
        words = FACE_WORDS.get(name, ())
        flags = {word: ANY if word == "--interval" else "" for word in words if word.startswith("-")}
        yield Command(name=name, doc=doc, flags=flags, place=" ".join(word for word in words if word not in flags))


def _command(op: Op) -> Command:
    known = arguments(op.Input)
    places = [argument for argument in known if argument.is_positional]
    named = [(flag, argument) for argument in known if not argument.is_positional for flag in argument.flags]
    return Command(
        name=op.command,
        doc=op.summary,
        also=tuple(dict.fromkeys(name for name in (*op.aliases, op.robot or "") if _is_other(name, op))),
        flags={flag: "" if argument.is_switch else _value(argument) for flag, argument in named},
        docs={flag: argument.doc for flag, argument in named},
        place=_value(places[0]) if places else "",
    )


def _is_other(name: str, op: Op) -> bool:
    return name not in ("", op.command) and not name.startswith("-")


def _value(argument: Argument) -> str:
    if argument.choices:
        return " ".join(argument.choices)
    if argument.names == "setting":
        return " ".join(row.name for row in rows())
    if argument.names == "event":
        return " ".join((*EVENT_KINDS, *EVENT_TYPES))
    return {"pane": PANE, "path": PATH}.get(argument.names, ANY)


def first_words() -> dict[str, str]:
    """What may stand right behind `visor`, with its meaning."""
    whole = {command.name: command.doc for command in commands() if " " not in command.name}
    short = {alias: command.doc for command in commands() for alias in command.also if alias in catalogue.ALIASES}
    return dict(
        sorted((whole | short | {group: f"Commands: {', '.join(members(group))}." for group in GROUPS}).items())
    )


def members(group: str) -> dict[str, str]:
    """What may stand behind a group's name."""
    return {
        command.name.removeprefix(f"{group} "): command.doc
        for command in commands()
        if command.name.startswith(f"{group} ")
    }


def robot_words() -> dict[str, str]:
    """What may stand right behind `visor robot`."""
    face = dict(FACE_COMMANDS)
    words = {word: doc for word, doc in first_words().items() if word not in face}
    return dict(
        sorted((words | {name: catalogue.op(known).summary for name, known in catalogue.ROBOT.items()}).items())
    )
