"""A cursor says how far a caller has read a pane's text: `<pane>:<line number>`; what follows it is new.

Nothing is skipped silently: a cursor of another pane, or one older than what is kept, is `InvalidCursor`.
"""

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.ops.api.services import Services

BEFORE_FIRST_LINE = -1
"""Smaller than every line number."""


def format_cursor(pane: PaneId, line_number: int) -> str:
    return f"{pane}:{line_number}"


async def parse_cursor(services: Services, pane: PaneId, cursor: str) -> int:
    """The line number after which to go on."""
    owner, _, digits = cursor.partition(":")
    oldest = await _find_oldest_cursor(services, pane)
    number = int(digits) if digits.removeprefix("-").isdecimal() and digits.isascii() else None
    if owner != str(pane) or number is None:
        raise _build_invalid_cursor(f"{cursor!r} is not a cursor of pane {pane}", pane, oldest)
    if number < oldest:
        raise _build_invalid_cursor(f"what followed cursor {cursor} is no longer kept", pane, oldest)
    if number > await find_last_line_number(services, pane):
        raise _build_invalid_cursor(f"cursor {cursor} is ahead of everything that pane {pane} printed", pane, oldest)
    return number


async def find_last_line_number(services: Services, pane: PaneId) -> int:
    """The number of the last settled line, also where none is kept; 0 before the first."""
    last = await services.history.list_lines(pane, limit=1)
    return last[-1].number if last else await _count_printed_lines(services, pane)


async def _find_oldest_cursor(services: Services, pane: PaneId) -> int:
    """The oldest valid cursor: just before the first line that is kept, or the next that comes."""
    first = await services.history.list_lines(pane, after=BEFORE_FIRST_LINE, limit=1)
    return first[0].number - 1 if first else await _count_printed_lines(services, pane)


async def _count_printed_lines(services: Services, pane: PaneId) -> int:
    """How many lines the pane ever had."""
    return next((view.lines for view in await services.panes.list_panes(include_gone=True) if view.id == pane), 0)


def _build_invalid_cursor(message: str, pane: PaneId, oldest: int) -> InvalidCursor:
    return InvalidCursor(message, details={"oldest": format_cursor(pane, oldest)})
