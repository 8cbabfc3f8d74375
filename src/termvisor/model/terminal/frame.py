"""A Frame is what a pane showed at one moment of its past, drawn anew from what it printed."""

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId


class ReplayFrame(Struct, frozen=True, kw_only=True):
    """``rows`` are redacted; each can be painted alone: SGR colours are its only escapes, and it sets them back.

    ``offset`` is how far in the epoch's bytes this is drawn. ``note`` says what cannot be seen, for example a gap.
    """

    pane: PaneId
    at: int
    width: int
    height: int
    rows: tuple[str, ...]
    cursor_x: int = 0
    cursor_y: int = 0
    is_cursor_shown: bool = True
    is_alternate: bool = False
    epoch: EpochId = EpochId(0)
    offset: int = 0
    note: str = ""
