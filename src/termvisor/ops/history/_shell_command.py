"""Resolve references to shell commands, describe them in results, and read their output with its gaps."""

from msgspec import Struct

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.errors import BadRequest, CommandNotFound
from termvisor.model.ids import CommandId, PaneId
from termvisor.model.terminal.command import CommandStatus, ShellCommand
from termvisor.model.terminal.output import Gap, Line
from termvisor.ops.api.services import Services
from termvisor.ops.panes._text_cursor import BEFORE_FIRST_LINE, find_last_line_number
from termvisor.ops.render.results import copy_fields, format_optional_timestamp
from termvisor.ops.render.text import format_age
from termvisor.redaction import redact

# Shorter durations are shown with one decimal.
_SHORT_COMMAND_S = 10.0


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
    return copy_fields(
        CommandFacts,
        command,
        command=None if command.line is None else redact(command.line),
        cwd=None if command.cwd is None else redact(command.cwd),
        started_at=format_timestamp(command.started_at),
        ended_at=format_optional_timestamp(command.ended_at),
        seconds=None if until is None else max(0.0, compute_seconds_between(command.started_at, until)),
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


class CommandOutput(Struct, frozen=True, kw_only=True):
    """``position`` is the number of the last line read; ``lines_gone`` counts lines deleted by retention."""

    lines: list[Line]
    position: int
    is_complete: bool
    has_pending: bool
    """True if the pane's incomplete last line belongs to the output."""
    lines_gone: int
    gaps: list[Gap]


async def read_command_output(
    services: Services, command: ShellCommand, after: int | None, limit: int
) -> CommandOutput:
    """Return at most ``limit`` lines, from the first one or the one after ``after``."""
    pane, first = command.pane, command.first_line
    last = await find_last_line_number(services, pane)
    until = last if command.last_line is None else command.last_line
    start = first - 1 if after is None else max(first - 1, after)
    stored = await services.history.list_lines(pane, after=start, before=until + 1, limit=limit + 1)
    lines = stored[:limit]
    is_complete = len(stored) <= limit
    # A command that just ended may still have its last line incomplete.
    is_open = command.last_line is None or command.last_line > last
    return CommandOutput(
        # After a gap another command may be running; those lines belong to a later epoch.
        lines=[line for line in lines if line.epoch == command.epoch],
        position=lines[-1].number if lines else min(start, last),
        is_complete=is_complete,
        has_pending=is_complete and is_open and first <= last + 1,
        lines_gone=await _count_deleted_lines(services, command, min(until, last)),
        gaps=[
            gap
            for gap in await services.history.list_gaps(pane=pane, since=command.started_at)
            if _is_within(gap, command)
        ],
    )


async def _count_deleted_lines(services: Services, command: ShellCommand, until: int) -> int:
    """Count the deleted lines of the output; retention deletes the oldest first."""
    first = await services.history.list_lines(command.pane, after=BEFORE_FIRST_LINE, limit=1)
    oldest = first[0].number if first else until + 1
    return max(0, min(oldest, until + 1) - command.first_line)


def _is_within(gap: Gap, command: ShellCommand) -> bool:
    """Return True if the gap began in or after the command's epoch while the command was running."""
    starts_later = command.ended_at is not None and gap.start_at > command.ended_at
    return gap.after == command.epoch and gap.start_at >= command.started_at and not starts_later
