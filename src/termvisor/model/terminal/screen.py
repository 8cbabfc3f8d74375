"""The visible contents of a pane, now or at an earlier time, rendered by the multiplexer."""

from msgspec import Struct

from termvisor.model.ids import PaneId, ScreenId


class Screen(Struct, frozen=True, kw_only=True):
    """``rows`` are redacted text without escapes, unless escapes were requested (then only SGR colours are kept)."""

    pane: PaneId
    rows: tuple[str, ...]
    width: int
    height: int
    cursor_x: int = 0
    cursor_y: int = 0
    alternate: bool = False
    at: int = 0
    id: ScreenId = ScreenId(0)
    left_out: tuple[int, ...] = ()
    """Rows of a stored screen that were not stored: its input area."""
