"""Format and parse cursors, which mark how far a client has read the text of a pane.

A cursor is `<pane>:<line number>`. If the pane's program rewrites lines on its screen, `.<time>` follows, the time of
the last rewrite, so that lines rewritten later are read again. The cursor of a sent text ends with `@<time>`: states of
the agent that began later were reached after it. Nothing is skipped silently: a cursor of another pane, or one before
the oldest stored line, raises InvalidCursor.
"""

import re

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import LinePosition
from termvisor.ops.api.services import Services

# Smaller than every line number.
BEFORE_FIRST_LINE = -1
_CURSOR = re.compile(r"(\d{1,18}):(-?\d{1,18})(?:\.([0-9a-f]{1,12}))?(?:@([0-9a-f]{1,16}))?", re.ASCII)


def format_cursor(pane: PaneId, position: LinePosition, sent_at: int = 0) -> str:
    rewritten = f".{position.rewritten_at:x}" if position.rewritten_at else ""
    return f"{pane}:{position.number}{rewritten}" + (f"@{sent_at:x}" if sent_at else "")


def parse_sent_time(pane: PaneId, cursor: str) -> int:
    """Return the time in the cursor of a sent text. Raises InvalidCursor, also for a cursor without a time."""
    match = _CURSOR.fullmatch(cursor)
    if match is None or match[1] != str(pane) or not match[4]:
        what = "a cursor" if match is None or match[1] != str(pane) else "the cursor of a sent text"
        raise InvalidCursor(
            f"{cursor!r} is not {what} of pane {pane}", hint="Pass the `cursor` that `visor send` answered."
        )
    return int(match[4], 16)


async def find_last_cursor(services: Services, pane: PaneId) -> str:
    """Return the cursor after the last complete line."""
    return format_cursor(pane, services.history.find_position(pane, await find_last_line_number(services, pane)))


async def parse_cursor(services: Services, pane: PaneId, cursor: str) -> LinePosition:
    """Return the position at which to continue. Raises InvalidCursor."""
    match = _CURSOR.fullmatch(cursor)
    oldest = await _find_oldest_cursor(services, pane)
    if match is None or match[1] != str(pane):
        raise _build_invalid_cursor(f"{cursor!r} is not a cursor of pane {pane}", pane, oldest)
    position = LinePosition(int(match[2]), int(match[3] or "0", 16))
    number = position.number
    # Raise instead of continuing with the next stored line, because the caller must learn that it missed output.
    if number < oldest:
        raise _build_invalid_cursor(
            f"cursor {cursor} is too old: the lines after it were deleted by retention", pane, oldest
        )
    # A program that erases lines leaves fewer than a cursor has counted. Otherwise no call ever returned such a
    # cursor, and reading from it would skip lines silently.
    was_rewritten = services.history.find_position(pane, number).rewritten_at > position.rewritten_at
    if number > await find_last_line_number(services, pane) and not was_rewritten:
        raise _build_invalid_cursor(f"cursor {cursor} is beyond the last line of pane {pane}", pane, oldest)
    return position


async def find_last_line_number(services: Services, pane: PaneId) -> int:
    """Return the number of the last complete line, even if it is no longer stored; 0 before the first."""
    last = await services.history.list_lines(pane, limit=1)
    # Retention may have deleted every line, but the pane's counter continues.
    return last[-1].number if last else await _count_printed_lines(services, pane)


async def _find_oldest_cursor(services: Services, pane: PaneId) -> int:
    """Return the line number of the oldest valid cursor: just before the first stored line, or the next one."""
    first = await services.history.list_lines(pane, after=BEFORE_FIRST_LINE, limit=1)
    return first[0].number - 1 if first else await _count_printed_lines(services, pane)


async def _count_printed_lines(services: Services, pane: PaneId) -> int:
    """Return the number of lines the pane has ever printed."""
    return next((view.lines for view in await services.panes.list_panes(include_gone=True) if view.id == pane), 0)


def _build_invalid_cursor(message: str, pane: PaneId, oldest: int) -> InvalidCursor:
    return InvalidCursor(message, details={"oldest": f"{pane}:{oldest}"})
