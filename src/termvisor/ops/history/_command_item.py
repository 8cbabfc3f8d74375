"""A command as answers tell it, and which one a caller means."""

from msgspec import Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest, NoSuchCommand
from termvisor.model.ids import CommandId, PaneId
from termvisor.model.terminal.command import Command, CommandStatus
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import instant
from termvisor.ops.render.text import age
from termvisor.redaction import redact

_SHORT = 10.0


class CommandFacts(Struct, frozen=True, kw_only=True):
    """One command. ``seconds`` is how long it ran, or has run until now; of a lost one it is not known.

    Its output are the lines ``first_line`` to ``last_line``; ``last_line`` is one less than ``first_line`` where there
    is none. ``is_proven``: the marks carried our nonce. A lost command is one whose end was never told.
    """

    id: int
    status: CommandStatus
    command: str | None
    cwd: str | None
    exit_code: int | None
    started_at: str
    ended_at: str | None
    seconds: float | None
    first_line: int
    last_line: int | None
    is_proven: bool


def facts(command: Command, now: int) -> CommandFacts:
    until = now if command.status == "running" else command.ended_at
    return CommandFacts(
        id=command.id,
        status=command.status,
        command=None if command.line is None else redact(command.line),
        cwd=None if command.cwd is None else redact(command.cwd),
        exit_code=command.exit_code,
        started_at=iso(command.started_at),
        ended_at=instant(command.ended_at),
        seconds=None if until is None else max(0.0, seconds_between(command.started_at, until)),
        first_line=command.first_line,
        last_line=command.last_line,
        is_proven=command.is_proven,
    )


async def chosen(world: World, pane: PaneId, which: str) -> Command:
    """The command that `last` or a number means in this pane."""
    if which != "last" and not (which.isascii() and which.isdecimal()):
        raise BadRequest(f"--command: {which!r} is neither `last` nor a number", hint="`visor list-commands` has them.")
    number = CommandId(min(int(which), (1 << 63) - 1)) if which != "last" else None
    found = await world.history.commands.one(pane, "last" if number is None else number)
    if found is None:
        what = "no command was heard" if number is None else f"there is no command {number}"
        raise NoSuchCommand(f"{what} in pane {pane}", details={"pane": pane})
    return found


def ending(command: CommandFacts) -> str:
    """``0``, ``running``, ``lost``; ``?`` when the shell told no status."""
    if command.status != "finished":
        return command.status
    return "?" if command.exit_code is None else str(command.exit_code)


def duration(seconds: float | None) -> str:
    """``0.4s`` for the short ones, else as an age."""
    return f"{seconds:.1f}s" if seconds is not None and seconds < _SHORT else age(seconds)
