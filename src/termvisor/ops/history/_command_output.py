"""Read the output lines of one command, with its gaps."""

from msgspec import Struct

from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Gap, Line
from termvisor.ops.api.services import Services
from termvisor.ops.panes._text_cursor import BEFORE_FIRST_LINE, find_last_line_number


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
    is_open = command.last_line is None or command.last_line > last
    return CommandOutput(
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
    """Return True if the gap is in the command's epoch or ends that epoch, while the command was running."""
    starts_later = command.ended_at is not None and gap.start_at > command.ended_at
    return gap.after == command.epoch and gap.start_at >= command.started_at and not starts_later
