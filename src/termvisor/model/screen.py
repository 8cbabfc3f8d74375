"""A Screen is what a person sees in a pane now, rendered by the multiplexer itself."""

from msgspec import Struct

from termvisor.model.ids import PaneId


class Screen(Struct, frozen=True, kw_only=True):
    """``rows`` are redacted text without escapes, unless escapes were asked for (then only SGR colours are kept)."""

    pane: PaneId
    rows: tuple[str, ...]
    width: int
    height: int
    cursor_x: int = 0
    cursor_y: int = 0
    alternate: bool = False
    at: int = 0
