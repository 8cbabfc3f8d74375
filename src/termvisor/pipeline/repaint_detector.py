"""Whether a pane repaints, and when it has painted: from the marks and movements in its stream. Pure.

It repaints on the alternate screen always; on the main screen when it goes back to rows that it had left, or sends
synchronized updates, and no shell waits at its prompt.
"""

from collections.abc import Iterable

from termvisor.capture.sampling_schedule import Stir
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.pane import Activity
from termvisor.model.terminal.screen_row import Life


class Repaint:
    """One epoch's signs of repainting since somebody last asked."""

    def __init__(self, pane: PaneId, epoch: EpochId):
        self._pane, self._epoch = pane, epoch
        self._life: Life | None = None
        self._leaps = 0
        self._is_painting = self._is_painted = self._has_synced = False

    def hear(self, marks: Iterable[Mark]) -> None:
        for mark in marks:
            if mark.kind in ("sync_on", "sync_off"):
                self._is_painting = mark.kind == "sync_on"
                self._is_painted = not self._is_painting
                self._has_synced = True

    def stir(self, activity: Activity, leaps: int) -> Stir | None:
        """What to tell of the output up to now; ``leaps`` counts movements to other rows since the epoch began."""
        is_sign = activity.kind == "alt_screen" or leaps != self._leaps or self._has_synced
        is_painting, is_painted = self._is_painting, self._is_painted
        self._leaps, self._is_painted, self._has_synced = leaps, False, False
        before, self._life = self._life, self._life_in(activity, is_sign=is_sign)
        if self._life is None:
            return None if before is None else Stir(self._pane, self._epoch)
        return Stir(self._pane, self._epoch, self._life, is_painting, is_painted, is_sign)

    def over(self) -> Stir | None:
        """Nothing more is heard of this pane here."""
        before, self._life = self._life, None
        return None if before is None else Stir(self._pane, self._epoch)

    def _life_in(self, activity: Activity, *, is_sign: bool) -> Life | None:
        if activity.kind in ("prompt", "gap"):
            return None
        is_alternate = activity.kind == "alt_screen"
        since = activity.since or 0 if activity.kind in ("alt_screen", "command") else 0
        life = Life(self._pane, self._epoch, is_alternate, since)
        return life if is_sign or life == self._life else None
