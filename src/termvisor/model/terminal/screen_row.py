"""Rows of full-screen programs (sightings), stored once for each lifetime of a screen."""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId, PaneId, SightingId
from termvisor.model.terminal.screen import Screen


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
    """One redacted row. ``fold`` identifies it within its lifetime; ``id`` is 0 until the sighting is stored."""

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
