"""Detect that the system clock was set, by comparing it with the monotonic clock."""

from termvisor.clock import NS

_MAX_SLEW_NS = 2 * NS
"""A smaller difference is clock slewing (NTP)."""


class ClockJumpDetector:
    def __init__(self, now: int, monotonic: float):
        self._offset_ns = self._compute_offset(now, monotonic)

    def detect_jump(self, now: int, monotonic: float) -> int:
        """Return jump_ns how many nanoseconds the clock was set since the last call; 0 if it was not."""
        offset_ns = self._compute_offset(now, monotonic)
        jump_ns = offset_ns - self._offset_ns
        if abs(jump_ns) < _MAX_SLEW_NS:
            return 0
        self._offset_ns = offset_ns
        return jump_ns

    def _compute_offset(self, now: int, monotonic: float) -> int:
        return now - int(monotonic * NS)
