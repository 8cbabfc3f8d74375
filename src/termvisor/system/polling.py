"""Poll a condition for which there is no notification, such as the start or exit of another process."""

import select
from collections.abc import Callable

from termvisor.clock import SystemClock


def wait_until(condition: Callable[[], bool], timeout_s: float, interval_s: float = 0.02) -> bool:
    """Check a condition every ``interval_s`` seconds. Returns False if it is not true after ``timeout_s`` seconds."""
    clock = SystemClock()
    end = clock.monotonic() + timeout_s
    while not condition():
        if clock.monotonic() > end:
            return False
        select.select([], [], [], interval_s)
    return True
