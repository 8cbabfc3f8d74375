"""Waiting for something real to happen, with a deadline and no fixed sleep."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def wait_until(condition: Callable[[], T], *, timeout: float = 30.0) -> T:
    """Return the first true result; the event loop runs meanwhile."""
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not within {timeout} s; last answer: {answer!r}"
        await asyncio.sleep(0.005)
    return answer
