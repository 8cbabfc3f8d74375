"""Poll for a condition with a deadline instead of a fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(check: Callable[[], T], *, timeout_s: float = 40.0) -> T:
    """Return the first true result of ``check``. Raises AssertionError with the last result on timeout."""
    deadline = time.monotonic() + timeout_s
    while not (result := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s; last result: {result!r}")
        time.sleep(0.05)
    return result
