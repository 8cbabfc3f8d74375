"""The lines that one command printed, and what is missing of them."""

from msgspec import Struct

from termvisor.model.terminal.command import Command
from termvisor.model.terminal.output import Gap, Line
from termvisor.ops.api.services import World
from termvisor.ops.panes._text_cursor import BEFORE_ALL, newest


class CommandOutput(Struct, frozen=True, kw_only=True):
    """``position`` is the number of the last line read; ``lines_gone`` were printed, but are no longer kept."""

    lines: list[Line]
    position: int
    is_complete: bool
    has_pending: bool
    """Whether the pane's unfinished line belongs to it."""
    lines_gone: int
    gaps: list[Gap]


async def output(world: World, command: Command, after: int | None, limit: int) -> CommandOutput:
    """At most so many of its lines, from its first or from the one that follows ``after``."""
    pane, first = command.pane, command.first_line
    last = await newest(world, pane)
    until = last if command.last_line is None else command.last_line
    start = first - 1 if after is None else max(first - 1, after)
    found = await world.history.lines(pane, after=start, before=until + 1, limit=limit + 1)
    lines = found[:limit]
    is_complete = len(found) <= limit
    is_open = command.last_line is None or command.last_line > last
    return CommandOutput(
        lines=[line for line in lines if line.epoch == command.epoch],
        position=lines[-1].number if lines else min(start, last),
        is_complete=is_complete,
        has_pending=is_complete and is_open and first <= last + 1,
        lines_gone=await _gone(world, command, min(until, last)),
        gaps=[gap for gap in await world.history.gaps(pane=pane, since=command.started_at) if _is_within(gap, command)],
    )


async def _gone(world: World, command: Command, until: int) -> int:
    """How many of its lines were deleted: always the oldest."""
    kept = await world.history.lines(command.pane, after=BEFORE_ALL, limit=1)
    oldest = kept[0].number if kept else until + 1
    return max(0, min(oldest, until + 1) - command.first_line)


def _is_within(gap: Gap, command: Command) -> bool:
    """Bytes are missing in its epoch, or its end was, because the epoch ended with this gap."""
    begins_late = command.ended_at is not None and gap.start_at > command.ended_at
    return gap.after == command.epoch and gap.start_at >= command.started_at and not begins_late
