"""A Sighting is a row that a repainting screen showed: stored once a screen life, with the screen it stood in."""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId, PaneId, SightingId
from termvisor.model.terminal.screen import Screen


class ScreenLifetime(Struct, frozen=True):
    """One life of a screen: from alternate on to off; on the main screen while one command runs.

    ``since`` is when it began; 0 on a main screen whose shell tells no commands: its life is then the epoch.
    """

    pane: PaneId
    epoch: EpochId
    is_alternate: bool
    since: int = 0


ScreenRowKind = Literal["sighting", "line", "input"]
"""What a row on a screen is to us: a sighting, a line of the stream that is stored as such, or the input area."""


class ScreenRow(Struct, frozen=True):
    """One row of a look, redacted. ``fold`` names it within its life; ``id`` is 0 until the sighting is known."""

    text: str
    fold: int = 0
    kind: ScreenRowKind = "sighting"
    id: SightingId = SightingId(0)


class CapturedScreen(Struct, frozen=True):
    """One look at a repainting pane, ready to be stored: the screen without its rows, and the rows.

    ``found`` is what rules found in rows, by the fold of the row; it counts where the row is new.
    """

    epoch: EpochId
    screen: Screen
    rows: tuple[ScreenRow, ...]
    found: tuple[tuple[int, Detection], ...] = ()
