"""Detect from marks and cursor movements in its output that a pane repaints its screen. Pure.

A program on the alternate screen always repaints. On the main screen it repaints if it moves back to earlier rows or
sends synchronized updates while no shell is at its prompt.
"""

from collections.abc import Iterable

from termvisor.capture.screen_sampler import PaintActivity
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import ScreenLifetime


class RepaintDetector:
    """Collector of the signs of repainting in one epoch between two calls of take_activity()."""

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
        """Return the paint activity since the last call, or None if the pane does not repaint.

        ``row_jumps`` counts cursor movements to other rows since the epoch began.
        """
        is_repaint = activity.kind == "alt_screen" or row_jumps != self._row_jumps or self._has_sync_mark
        is_mid_update, is_update_complete = self._is_mid_update, self._is_update_complete
        self._row_jumps, self._is_update_complete, self._has_sync_mark = row_jumps, False, False
        before, self._lifetime = self._lifetime, self._find_lifetime(activity, is_repaint=is_repaint)
        if self._lifetime is None:
            return None if before is None else PaintActivity(self._pane, self._epoch)
        return PaintActivity(self._pane, self._epoch, self._lifetime, is_mid_update, is_update_complete, is_repaint)

    def finish(self) -> PaintActivity | None:
        """Return the last activity of a closed epoch."""
        before, self._lifetime = self._lifetime, None
        return None if before is None else PaintActivity(self._pane, self._epoch)

    def _find_lifetime(self, activity: PaneActivity, *, is_repaint: bool) -> ScreenLifetime | None:
        if activity.kind in ("prompt", "gap"):
            return None
        is_alternate = activity.kind == "alt_screen"
        since = activity.since or 0 if activity.kind in ("alt_screen", "command") else 0
        lifetime = ScreenLifetime(self._pane, self._epoch, is_alternate, since)
        return lifetime if is_repaint or lifetime == self._lifetime else None
