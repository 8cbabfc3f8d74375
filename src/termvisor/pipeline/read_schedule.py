"""Decide which of the epochs that have grown are read next, so that no pane slows down another. Pure.

Output that is slow to decode (thousands of lines with secrets, random bytes) would take all the time there is. An epoch
is *slow* if its turn ended by the time limit after few bytes. All others are read first. Slow epochs share a limited
time in each pass and then rest for as long as they were read: that leaves half of the time to everything else.
"""

from collections.abc import Iterator

from termvisor.model.ids import EpochId

MAX_TURN_S = 0.02
"""Time after which the turn of an epoch ends."""
_MAX_SLOW_S = 0.04
"""Time for all slow epochs in one pass."""
_SLOW_TURN_BYTES = 1 << 16
"""A turn that reads fewer bytes than this until its time is over is slow."""


class ReadSchedule:
    """The grown epochs; times are monotonic seconds."""

    def __init__(self) -> None:
        self._fast: dict[EpochId, None] = {}
        self._slow: dict[EpochId, None] = {}
        """The one that has waited longest comes first."""
        self._rest_until = 0.0
        self._slow_s = 0.0

    def __contains__(self, epoch: EpochId) -> bool:
        return epoch in self._fast or epoch in self._slow

    def __iter__(self) -> Iterator[EpochId]:
        return iter((*self._fast, *self._slow))

    def __len__(self) -> int:
        return len(self._fast) + len(self._slow)

    def is_slow(self, epoch: EpochId) -> bool:
        """Return True if the epoch is read with delay."""
        return epoch in self._slow

    def add(self, epoch: EpochId) -> None:
        if epoch not in self._slow:
            self._fast[epoch] = None

    def discard(self, epoch: EpochId) -> None:
        """Remove an epoch of which everything is read."""
        self._fast.pop(epoch, None)
        self._slow.pop(epoch, None)

    def find_next_pass(self) -> float | None:
        """Return when the next pass has something to read: 0 for at once, None if nothing has grown."""
        return 0.0 if self._fast else self._rest_until if self._slow else None

    def iterate_pass(self, now: float) -> Iterator[EpochId]:
        """Yield the epochs to read now, each once. Call `record_turn` after each."""
        yield from list(self._fast)
        if now < self._rest_until:
            return
        self._slow_s = 0.0
        for epoch in list(self._slow):
            if self._slow_s >= _MAX_SLOW_S:
                break
            yield epoch

    def record_turn(self, epoch: EpochId, size: int, seconds: float, now: float) -> None:
        """Record that an epoch was read: ``size`` bytes in this time. Does not add an epoch that was removed."""
        if epoch not in self:
            return
        self.discard(epoch)
        if seconds < MAX_TURN_S or size >= _SLOW_TURN_BYTES:
            self._fast[epoch] = None
            return
        self._slow[epoch] = None
        self._slow_s += seconds
        self._rest_until = now + self._slow_s
