"""Wait for something that cannot be heard, only looked at: another process's start or end."""

import select
from collections.abc import Callable

from termvisor.clock import SystemClock


def until(check: Callable[[], bool], within: float, every: float = 0.02) -> bool:
    """Look again and again; False when it is not so after ``within`` seconds."""
    clock = SystemClock()
    end = clock.monotonic() + within
    while not check():
        if clock.monotonic() > end:
            return False
        select.select([], [], [], every)
    return True
