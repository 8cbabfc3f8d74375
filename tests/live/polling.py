"""Waiting for something real to happen, with a deadline and no fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(check: Callable[[], T], *, timeout_s: float = 40.0) -> T:
    """The first answer that is true; fails with the last one when none comes in time."""
    deadline = time.monotonic() + timeout_s
    while not (answer := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s; last answer: {answer!r}")
        time.sleep(0.05)
    return answer
