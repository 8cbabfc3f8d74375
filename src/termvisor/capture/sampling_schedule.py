"""Schedule the screen samples of a repainting pane: after it painted, not too often, never while quiet. Pure.

A program that never pauses is sampled at the latest MAX_SAMPLE_DELAY_S after its first unsampled paint.
"""

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen_row import ScreenLifetime

QUIET_DELAY_S = 0.15
"""Time without output after which a screen counts as complete."""
MIN_SAMPLE_INTERVAL_S = 0.5
MAX_SAMPLE_DELAY_S = 1.0
_MAX_ATTEMPTS = 10
"""Retries of a sample that failed, e.g. because the control client is being attached."""


class PaintActivity(Struct, frozen=True):
    """A pane printed something; ``lifetime`` is None once it no longer repaints its screen."""

    pane: PaneId
    epoch: EpochId
    lifetime: ScreenLifetime | None = None
    is_mid_update: bool = False
    """Inside a synchronized update: the screen is half painted."""
    is_update_complete: bool = False
    """A synchronized update just ended: the screen is complete."""
    is_repaint: bool = True
    """False for plain output, which delays a pending sample but requests none."""


class SamplingSchedule(Struct):
    """The schedule of one pane; times are monotonic seconds."""

    lifetime: ScreenLifetime
    last_output_at: float = 0.0
    last_sample_at: float = -MIN_SAMPLE_INTERVAL_S
    pending_since: float | None = None
    """Time of the first paint that no sample shows yet."""
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
        """Return when to sample, None if nothing was painted since the last sample."""
        if self.pending_since is None:
            return None
        latest = self.pending_since + MAX_SAMPLE_DELAY_S
        return max(self.last_sample_at + MIN_SAMPLE_INTERVAL_S, min(self._find_settle_time(latest), latest))

    def _find_settle_time(self, latest: float) -> float:
        if self.is_mid_update:
            return latest
        return self.last_output_at if self.is_update_complete else self.last_output_at + QUIET_DELAY_S

    def mark_sampled(self, now: float) -> None:
        """Note that a sample is being taken; later paints request another one."""
        self.last_sample_at, self.pending_since, self.is_update_complete = now, None, False

    def mark_missed(self, now: float) -> None:
        """Retry a sample that failed, up to _MAX_ATTEMPTS times."""
        self.attempts += 1
        if self.pending_since is None and self.attempts < _MAX_ATTEMPTS:
            self.pending_since = now
