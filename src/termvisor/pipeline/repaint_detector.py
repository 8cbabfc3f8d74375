"""Whether a pane repaints, and when it has painted: from the marks and movements in its stream. Pure.

It repaints on the alternate screen always; on the main screen when it goes back to rows that it had left, or sends
synchronized updates, and no shell waits at its prompt.
"""

from collections.abc import Iterable

from termvisor.capture.sampling_schedule import PaintActivity
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen_row import ScreenLifetime


class RepaintDetector:
    """One epoch's signs of repainting since somebody last asked."""

    def __init__(self, pane: PaneId, epoch: EpochId):
        self._pane, self._epoch = pane, epoch
        self._lifetime: ScreenLifetime | None = None
        self._row_jumps = 0
        self._is_mid_update = self._is_update_complete = self._has_sync_mark = False

    def observe_marks(self, marks: Iterable[Mark]) -> None:
        for mark in marks:
            if mark.kind in ("sync_on", "sync_off"):
                self._is_mid_update = mark.kind == "sync_on"
                self._is_update_complete = not self._is_mid_update
                self._has_sync_mark = True

    def take_activity(self, activity: PaneActivity, row_jumps: int) -> PaintActivity | None:
        """What to tell of the output up to now; ``leaps`` counts movements to other rows since the epoch began."""
        is_sign = activity.kind == "alt_screen" or row_jumps != self._row_jumps or self._has_sync_mark
        is_painting, is_painted = self._is_mid_update, self._is_update_complete
        self._row_jumps, self._is_update_complete, self._has_sync_mark = row_jumps, False, False
        before, self._lifetime = self._lifetime, self._find_lifetime(activity, is_repaint=is_sign)
        if self._lifetime is None:
            return None if before is None else PaintActivity(self._pane, self._epoch)
        return PaintActivity(self._pane, self._epoch, self._lifetime, is_painting, is_painted, is_sign)

    def finish(self) -> PaintActivity | None:
        """Nothing more is heard of this pane here."""
        before, self._lifetime = self._lifetime, None
        return None if before is None else PaintActivity(self._pane, self._epoch)

    def _find_lifetime(self, activity: PaneActivity, *, is_repaint: bool) -> ScreenLifetime | None:
        if activity.kind in ("prompt", "gap"):
            return None
        is_alternate = activity.kind == "alt_screen"
        since = activity.since or 0 if activity.kind in ("alt_screen", "command") else 0
        life = ScreenLifetime(self._pane, self._epoch, is_alternate, since)
        return life if is_repaint or life == self._lifetime else None
