"""Wait for something that cannot be heard, only looked at: another process's start or end."""

import select
from collections.abc import Callable

from termvisor.clock import SystemClock


def wait_until(condition: Callable[[], bool], timeout_s: float, interval_s: float = 0.02) -> bool:
    """Look again and again; False when it is not so after ``within`` seconds."""
    clock = SystemClock()
    end = clock.monotonic() + timeout_s
    while not condition():
        if clock.monotonic() > end:
            return False
        select.select([], [], [], interval_s)
    return True
