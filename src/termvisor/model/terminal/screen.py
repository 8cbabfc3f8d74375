"""Screens: the visible contents of a pane, their stored rows (sightings), and the frames of a replay."""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId, PaneId, ScreenId, SightingId


class Screen(Struct, frozen=True, kw_only=True):
    """The visible contents of a pane, now or at an earlier time, rendered by the multiplexer.

    ``rows`` are redacted text without escapes, unless escapes were requested (then only SGR colours are kept).
    """

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


class ScreenLifetime(Struct, frozen=True):
    """Lifetime of a screen: from alternate screen on to off; on the main screen while one command runs.

    ``since`` is its start; 0 on a main screen whose shell sends no marks: its lifetime is then the epoch.
    """

    pane: PaneId
    epoch: EpochId
    is_alternate: bool
    since: int = 0


ScreenRowKind = Literal["sighting", "line", "input"]
"""A sighting, a line of the stream that is stored as such, or a row of the input area."""


class ScreenRow(Struct, frozen=True):
    """One redacted row of a full-screen program, stored once for each lifetime of a screen.

    ``fold`` identifies it within its lifetime; ``id`` is 0 until the sighting is stored.
    """

    text: str
    fold: int = 0
    kind: ScreenRowKind = "sighting"
    id: SightingId = SightingId(0)


class CapturedScreen(Struct, frozen=True):
    """A screen sample ready to be stored: the screen without its rows, and the rows.

    ``found`` are detections by the fold of their row; they count only if the row is new.
    """

    epoch: EpochId
    screen: Screen
    rows: tuple[ScreenRow, ...]
    found: tuple[tuple[int, Detection], ...] = ()


class ReplayFrame(Struct, frozen=True, kw_only=True):
    """What a pane showed at an earlier time, rendered from its recorded output.

    ``rows`` are redacted; each can be printed alone: its only escapes are SGR colours, which it resets at the end.

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
