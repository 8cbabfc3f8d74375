"""Format and parse cursors `<pane>:<line number>`, which mark how far a client has read the text of a pane.

Nothing is skipped silently: a cursor of another pane, or one before the oldest stored line, raises InvalidCursor.
"""

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.ops.api.services import Services

# Smaller than every line number.
BEFORE_FIRST_LINE = -1


def format_cursor(pane: PaneId, line_number: int) -> str:
    return f"{pane}:{line_number}"


async def parse_cursor(services: Services, pane: PaneId, cursor: str) -> int:
    """Return the line number after which to continue. Raises InvalidCursor."""
    owner, _, digits = cursor.partition(":")
    oldest = await _find_oldest_cursor(services, pane)
    # `int` would also accept underscores and digits of other scripts, which no cursor of ours contains.
    number = int(digits) if digits.removeprefix("-").isdecimal() and digits.isascii() else None
    if owner != str(pane) or number is None:
        raise _build_invalid_cursor(f"{cursor!r} is not a cursor of pane {pane}", pane, oldest)
    # Raise instead of continuing with the next stored line, because the caller must learn that it missed output.
    if number < oldest:
        raise _build_invalid_cursor(
            f"cursor {cursor} is too old: the lines after it were deleted by retention", pane, oldest
        )
    # No call ever returned such a cursor; reading from it would skip lines silently.
    if number > await find_last_line_number(services, pane):
        raise _build_invalid_cursor(f"cursor {cursor} is beyond the last line of pane {pane}", pane, oldest)
    return number


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
    return InvalidCursor(message, details={"oldest": format_cursor(pane, oldest)})
