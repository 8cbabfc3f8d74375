"""Waiting for something real to happen, with a deadline and no fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(look: Callable[[], T], *, seconds: float = 40.0) -> T:
    """The first answer that is true; fails with the last one when none comes in time."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s; last answer: {answer!r}")
        time.sleep(0.05)
    return answer
