"""A cursor says how far a caller has read a pane's text: `<pane>:<line number>`; what follows it is new.

Nothing is skipped silently: a cursor of another pane, or one older than what is kept, is `InvalidCursor`.
"""

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.ops.api.services import World

BEFORE_ALL = -1
"""Smaller than every line number."""


def write(pane: PaneId, number: int) -> str:
    return f"{pane}:{number}"


async def read(world: World, pane: PaneId, cursor: str) -> int:
    """The line number after which to go on."""
    owner, _, digits = cursor.partition(":")
    oldest = await _oldest(world, pane)
    number = int(digits) if digits.removeprefix("-").isdecimal() and digits.isascii() else None
    if owner != str(pane) or number is None:
        raise _invalid(f"{cursor!r} is not a cursor of pane {pane}", pane, oldest)
    if number < oldest:
        raise _invalid(f"what followed cursor {cursor} is no longer kept", pane, oldest)
    if number > await newest(world, pane):
        raise _invalid(f"cursor {cursor} is ahead of everything that pane {pane} printed", pane, oldest)
    return number


async def newest(world: World, pane: PaneId) -> int:
    """The number of the last settled line, also where none is kept; 0 before the first."""
    last = await world.history.lines(pane, limit=1)
    return last[-1].number if last else await _printed(world, pane)


async def _oldest(world: World, pane: PaneId) -> int:
    """The oldest valid cursor: just before the first line that is kept, or the next that comes."""
    first = await world.history.lines(pane, after=BEFORE_ALL, limit=1)
    return first[0].number - 1 if first else await _printed(world, pane)


async def _printed(world: World, pane: PaneId) -> int:
    """How many lines the pane ever had."""
    return next((view.lines for view in await world.fleet.panes(gone=True) if view.id == pane), 0)


def _invalid(message: str, pane: PaneId, oldest: int) -> InvalidCursor:
    return InvalidCursor(message, details={"oldest": write(pane, oldest)})
