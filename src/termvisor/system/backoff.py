"""When to try again: exponential with jitter; after too many failures a hold-down that a person can see."""

_FIRST_DELAY_S, _MAX_DELAY_S = 0.25, 30.0
_MAX_FAILURES, _FAILURE_WINDOW_S, _HOLD_DOWN_S = 5, 600.0, 300.0


class Backoff:
    """Five failures within ten minutes hold down for five minutes."""

    def __init__(self) -> None:
        self._failure_times: list[float] = []
        self._streak = 0
        self.total_failures = 0
        self.is_held_down = False

    def record_failure(self, now: float) -> float:
        """Another failure; the moment of the next try."""
        self.total_failures += 1
        self._streak += 1
        self._failure_times = [at for at in self._failure_times if now - at < _FAILURE_WINDOW_S] + [now]
        self.is_held_down = len(self._failure_times) >= _MAX_FAILURES
        if self.is_held_down:
            return now + _HOLD_DOWN_S
        import random  # where all goes well it is not needed

        wait = min(_MAX_DELAY_S, _FIRST_DELAY_S * 2 ** (self._streak - 1))
        return now + float(wait * random.uniform(0.8, 1.2))  # noqa: S311 - jitter, not a secret

    def record_success(self) -> None:
        self._streak = 0
        self.is_held_down = False
