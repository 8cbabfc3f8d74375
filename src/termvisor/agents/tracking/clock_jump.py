"""Notices that the machine's clock was set, by a clock that cannot be."""

from termvisor.clock import NS

_SLACK = 2 * NS
"""Less is no more than the slewing of a clock that is kept right."""


class Reckoning:
    def __init__(self, now: int, monotonic: float):
        self._apart = self._between(now, monotonic)

    def jump(self, now: int, monotonic: float) -> int:
        """By how many nanoseconds the clock was set since it was last asked; 0 if it was not."""
        apart = self._between(now, monotonic)
        by = apart - self._apart
        if abs(by) < _SLACK:
            return 0
        self._apart = apart
        return by

    def _between(self, now: int, monotonic: float) -> int:
        return now - int(monotonic * NS)
