"""How much a pane prints: the total, the rate of the last seconds, and when it last did."""

_WINDOW = 5.0


class Meter:
    """Counts in windows of five seconds: the rate is that of the last full window and the running one."""

    def __init__(self, total: int = 0, last_at: int | None = None):
        self.total, self.last_at = total, last_at
        self._started = 0.0
        self._current = self._previous = 0

    def count(self, size: int, at: int, monotonic: float) -> None:
        self._turn(monotonic)
        self.total += size
        self._current += size
        self.last_at = at

    def rate(self, monotonic: float) -> float:
        """Bytes a second."""
        self._turn(monotonic)
        elapsed = monotonic - self._started
        return (self._previous + self._current) / (_WINDOW + elapsed)

    def _turn(self, monotonic: float) -> None:
        elapsed = monotonic - self._started
        if elapsed >= _WINDOW:
            self._previous = self._current if elapsed < 2 * _WINDOW else 0
            self._current, self._started = 0, monotonic
