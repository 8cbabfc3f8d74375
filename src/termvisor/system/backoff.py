"""When to try again: exponential with jitter; after too many failures a hold-down that a person can see."""

_FIRST, _LONGEST = 0.25, 30.0
_FAILURES, _WITHIN, _HOLD_FOR = 5, 600.0, 300.0


class Backoff:
    """Five failures within ten minutes hold down for five minutes."""

    def __init__(self) -> None:
        self._failures: list[float] = []
        self._streak = 0
        self.total = 0
        self.is_held = False

    def failed(self, now: float) -> float:
        """Another failure; the moment of the next try."""
        self.total += 1
        self._streak += 1
        self._failures = [at for at in self._failures if now - at < _WITHIN] + [now]
        self.is_held = len(self._failures) >= _FAILURES
        if self.is_held:
            return now + _HOLD_FOR
        import random  # where all goes well it is not needed

        wait = min(_LONGEST, _FIRST * 2 ** (self._streak - 1))
        return now + float(wait * random.uniform(0.8, 1.2))  # noqa: S311 - jitter, not a secret

    def worked(self) -> None:
        self._streak = 0
        self.is_held = False
