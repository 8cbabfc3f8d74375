"""Measure output: the total, the current rate and the time of the latest output."""

_WINDOW_S = 5.0


class RateMeter:
    """Counter with windows of five seconds; the rate covers the last full window and the current one."""

    def __init__(self, total: int = 0, last_at: int | None = None):
        self.total, self.last_at = total, last_at
        self._window_started_at = 0.0
        self._current_count = self._previous_count = 0

    def count(self, size: int, at: int, monotonic: float) -> None:
        self._rotate_window(monotonic)
        self.total += size
        self._current_count += size
        self.last_at = at

    def compute_rate(self, monotonic: float) -> float:
        """Return the rate in counts (bytes, samples) per second."""
        self._rotate_window(monotonic)
        elapsed = monotonic - self._window_started_at
        return (self._previous_count + self._current_count) / (_WINDOW_S + elapsed)

    def _rotate_window(self, monotonic: float) -> None:
        elapsed = monotonic - self._window_started_at
        if elapsed >= _WINDOW_S:
            self._previous_count = self._current_count if elapsed < 2 * _WINDOW_S else 0
            self._current_count, self._window_started_at = 0, monotonic
