"""When a repainting pane is looked at: when it has painted, not too often, and never while it is quiet. Pure.

A program that never pauses is looked at all the same, at the latest a second after it began.
"""

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen_row import ScreenLifetime

QUIET_DELAY_S = 0.15
"""Seconds without output after which a screen counts as painted."""
MIN_SAMPLE_INTERVAL_S = 0.5
"""Seconds between two looks, at least."""
MAX_SAMPLE_DELAY_S = 1.0
_MAX_ATTEMPTS = 10


class PaintActivity(Struct, frozen=True):
    """A pane printed something; ``life`` is that of the screen it paints on, None where it no longer does."""

    pane: PaneId
    epoch: EpochId
    lifetime: ScreenLifetime | None = None
    is_mid_update: bool = False
    """It is within a synchronized update: what it shows now is half of a picture."""
    is_update_complete: bool = False
    """A synchronized update has just ended: what it shows now is whole."""
    is_repaint: bool = True
    """It repainted. Otherwise it only printed, which keeps a look waiting but asks for none."""


class SamplingSchedule(Struct):
    """The rhythm of one pane. Instants are seconds of a clock that never runs backwards."""

    lifetime: ScreenLifetime
    last_output_at: float = 0.0
    last_sample_at: float = -MIN_SAMPLE_INTERVAL_S
    pending_since: float | None = None
    """The first paint that no look has seen yet."""
    is_mid_update: bool = False
    is_update_complete: bool = False
    attempts: int = 0

    def note_activity(self, activity: PaintActivity, now: float) -> None:
        self.last_output_at, self.attempts = now, 0
        self.is_mid_update = activity.is_mid_update
        self.is_update_complete = activity.is_update_complete and not activity.is_mid_update
        if activity.is_repaint and self.pending_since is None:
            self.pending_since = now

    @property
    def due_at(self) -> float | None:
        """When to look, None while there is nothing to see."""
        if self.pending_since is None:
            return None
        latest = self.pending_since + MAX_SAMPLE_DELAY_S
        return max(self.last_sample_at + MIN_SAMPLE_INTERVAL_S, min(self._find_settle_time(latest), latest))

    def _find_settle_time(self, latest: float) -> float:
        if self.is_mid_update:
            return latest
        return self.last_output_at if self.is_update_complete else self.last_output_at + QUIET_DELAY_S

    def mark_sampled(self, now: float) -> None:
        """A look is being taken: what is painted from now on asks for another one."""
        self.last_sample_at, self.pending_since, self.is_update_complete = now, None, False

    def mark_missed(self, now: float) -> None:
        """The look could not be taken; it is tried again a few times, in case the way to the pane is being made."""
        self.attempts += 1
        if self.pending_since is None and self.attempts < _MAX_ATTEMPTS:
            self.pending_since = now
