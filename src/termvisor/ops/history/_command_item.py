"""Describe shell commands in results, and resolve references to them."""

from msgspec import Struct

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.errors import BadRequest, CommandNotFound
from termvisor.model.ids import CommandId, PaneId
from termvisor.model.terminal.command import CommandStatus, ShellCommand
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import format_optional_timestamp
from termvisor.ops.render.text import format_age
from termvisor.redaction import redact

_SHORT_COMMAND_S = 10.0
"""Shorter durations are shown with one decimal."""


class CommandFacts(Struct, frozen=True, kw_only=True):
    """One command. ``seconds`` is its duration so far; null for a `lost` command, whose end was never reported.

    Its output is the lines ``first_line`` to ``last_line``; without output ``last_line`` is ``first_line`` - 1.
    ``is_proven``: the marks carried our nonce.
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


def build_command_facts(command: ShellCommand, now: int) -> CommandFacts:
    until = now if command.status == "running" else command.ended_at
    return CommandFacts(
        id=command.id,
        status=command.status,
        command=None if command.line is None else redact(command.line),
        cwd=None if command.cwd is None else redact(command.cwd),
        exit_code=command.exit_code,
        started_at=format_timestamp(command.started_at),
        ended_at=format_optional_timestamp(command.ended_at),
        seconds=None if until is None else max(0.0, compute_seconds_between(command.started_at, until)),
        first_line=command.first_line,
        last_line=command.last_line,
        is_proven=command.is_proven,
    )


async def resolve_command(services: Services, pane: PaneId, command_reference: str) -> ShellCommand:
    """Return the command for `last` or an id. Raises BadRequest, CommandNotFound."""
    if command_reference != "last" and not (command_reference.isascii() and command_reference.isdecimal()):
        raise BadRequest(
            f"--command: {command_reference!r} is neither `last` nor a command id",
            hint="`visor list-commands` shows the ids.",
        )
    # SQLite integers have 64 bits.
    command_id = CommandId(min(int(command_reference), (1 << 63) - 1)) if command_reference != "last" else None
    command = await services.history.commands.find(pane, "last" if command_id is None else command_id)
    if command is None:
        problem = "no command recorded" if command_id is None else f"command {command_id} not found"
        raise CommandNotFound(f"{problem} in pane {pane}", details={"pane": pane})
    return command


def format_exit_code(command: CommandFacts) -> str:
    """Return ``0``, ``running``, ``lost``, or ``?`` if the shell reported no status."""
    if command.status != "finished":
        return command.status
    return "?" if command.exit_code is None else str(command.exit_code)


def format_duration(seconds: float | None) -> str:
    """Format as ``0.4s`` if short, else as an age."""
    return f"{seconds:.1f}s" if seconds is not None and seconds < _SHORT_COMMAND_S else format_age(seconds)
