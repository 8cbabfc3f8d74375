"""Notices that the machine's clock was set, by a clock that cannot be."""

from termvisor.clock import NS

_MAX_SLEW_NS = 2 * NS
"""Less is no more than the slewing of a clock that is kept right."""


class ClockJumpDetector:
    def __init__(self, now: int, monotonic: float):
        self._offset_ns = self._compute_offset(now, monotonic)

    def detect_jump(self, now: int, monotonic: float) -> int:
        """By how many nanoseconds the clock was set since it was last asked; 0 if it was not."""
        apart = self._compute_offset(now, monotonic)
        by = apart - self._offset_ns
        if abs(by) < _MAX_SLEW_NS:
            return 0
        self._offset_ns = apart
        return by

    def _compute_offset(self, now: int, monotonic: float) -> int:
        return now - int(monotonic * NS)
