"""The lines that one command printed, and what is missing of them."""

from msgspec import Struct

from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Gap, Line
from termvisor.ops.api.services import Services
from termvisor.ops.panes._text_cursor import BEFORE_FIRST_LINE, find_last_line_number


class CommandOutput(Struct, frozen=True, kw_only=True):
    """``position`` is the number of the last line read; ``lines_gone`` were printed, but are no longer kept."""

    lines: list[Line]
    position: int
    is_complete: bool
    has_pending: bool
    """Whether the pane's unfinished line belongs to it."""
    lines_gone: int
    gaps: list[Gap]


async def read_command_output(
    services: Services, command: ShellCommand, after: int | None, limit: int
) -> CommandOutput:
    """At most so many of its lines, from its first or from the one that follows ``after``."""
    pane, first = command.pane, command.first_line
    last = await find_last_line_number(services, pane)
    until = last if command.last_line is None else command.last_line
    start = first - 1 if after is None else max(first - 1, after)
    found = await services.history.list_lines(pane, after=start, before=until + 1, limit=limit + 1)
    lines = found[:limit]
    is_complete = len(found) <= limit
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
    """How many of its lines were deleted: always the oldest."""
    kept = await services.history.list_lines(command.pane, after=BEFORE_FIRST_LINE, limit=1)
    oldest = kept[0].number if kept else until + 1
    return max(0, min(oldest, until + 1) - command.first_line)


def _is_within(gap: Gap, command: ShellCommand) -> bool:
    """Bytes are missing in its epoch, or its end was, because the epoch ended with this gap."""
    begins_late = command.ended_at is not None and gap.start_at > command.ended_at
    return gap.after == command.epoch and gap.start_at >= command.started_at and not begins_late
