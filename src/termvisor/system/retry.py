"""Retries: exponential backoff with jitter and a hold-down after repeated failures, and polling of a condition."""

import select
from collections.abc import Callable

from termvisor.clock import SystemClock

_FIRST_DELAY_S, _MAX_DELAY_S = 0.25, 30.0
_MAX_FAILURES, _FAILURE_WINDOW_S, _HOLD_DOWN_S = 5, 600.0, 300.0


class Backoff:
    """Retry state of one resource. Five failures within ten minutes hold it down for five minutes."""

    def __init__(self) -> None:
        self._failure_times: list[float] = []
        self._streak = 0
        self.total_failures = 0
        self.is_held_down = False

    def record_failure(self, now: float) -> float:
        """Count a failure and return the time of the next attempt."""
        self.total_failures += 1
        self._streak += 1
        self._failure_times = [at for at in self._failure_times if now - at < _FAILURE_WINDOW_S] + [now]
        self.is_held_down = len(self._failure_times) >= _MAX_FAILURES
        if self.is_held_down:
            return now + _HOLD_DOWN_S
        import random  # imported late: not needed until something fails

        # Jitter: panes that fail together must not be retried together.
        delay = min(_MAX_DELAY_S, _FIRST_DELAY_S * 2 ** (self._streak - 1))
        return now + float(delay * random.uniform(0.8, 1.2))  # noqa: S311 - jitter, not a secret

    def record_success(self) -> None:
        """Reset the delay and the hold-down."""
        self._streak = 0
        self.is_held_down = False


def wait_until(condition: Callable[[], bool], timeout_s: float, interval_s: float = 0.02) -> bool:
    """Poll a condition every ``interval_s`` seconds. Returns False if it is still false after ``timeout_s`` seconds.

    For events without notification, such as the start or exit of a process that is not a child.
    """
    clock = SystemClock()
    end = clock.monotonic() + timeout_s
    while not condition():
        if clock.monotonic() > end:
            return False
        select.select([], [], [], interval_s)
    return True
