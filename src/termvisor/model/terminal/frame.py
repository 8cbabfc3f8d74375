"""A frame of a replay: what a pane showed at an earlier time, rendered from its recorded output."""

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId


class ReplayFrame(Struct, frozen=True, kw_only=True):
    """``rows`` are redacted; each can be printed alone: its only escapes are SGR colours, which it resets at the end.

    ``offset`` is the number of the epoch's bytes rendered. ``note`` tells what is missing, for example a gap.
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
