"""Screens: the visible contents of a pane, their stored rows (sightings), and the frames of a replay."""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId, PaneId, ScreenId, SightingId


class Screen(Struct, frozen=True, kw_only=True):
    """The visible contents of a pane, now or earlier, as rendered by the multiplexer.

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
    """Rows that a stored screen omits: its input area."""
    highlights: tuple[tuple[int, str], ...] = ()
    """Row and text of each part of a row with a background of its own; only if the capture had colours."""


class ScreenLifetime(Struct, frozen=True):
    """The lifetime of a screen: while the alternate screen is on, or while one command runs on the main screen.

    ``since`` is its start. It is 0 on a main screen whose shell sends no marks, where the lifetime is the epoch.
    """

    pane: PaneId
    epoch: EpochId
    is_alternate: bool
    since: int = 0


ScreenRowKind = Literal["sighting", "line", "input"]
"""A sighting, a row already stored as a line of the stream, or a row of the input area."""


class ScreenRow(Struct, frozen=True):
    """A redacted row of a full-screen program, stored once per screen lifetime.

    ``fold`` identifies it within its lifetime; ``id`` is 0 until the sighting is stored.
    """

    text: str
    fold: int = 0
    kind: ScreenRowKind = "sighting"
    id: SightingId = SightingId(0)


class CapturedScreen(Struct, frozen=True):
    """A screen sample ready to be stored: the screen without its rows, and the rows.

    ``found`` are the folds of rows in which a rule match appeared, with the detections. ``shown_matches`` is the
    encoded state by which the next sample tells which matches appeared; None if it did not change.
    """

    epoch: EpochId
    screen: Screen
    rows: tuple[ScreenRow, ...]
    found: tuple[tuple[int, Detection], ...] = ()
    shown_matches: bytes | None = None


class ReplayFrame(Struct, frozen=True, kw_only=True):
    """What a pane showed at an earlier time, rendered from its recorded output.

    ``rows`` are redacted. Each can be printed alone: its only escapes are SGR colours, which it resets at the end.

    ``offset`` is the number of bytes of the epoch rendered. ``note`` describes what is missing, such as a gap.
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
