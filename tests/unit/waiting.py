"""Waiting for something real to happen, with a deadline and no fixed sleep."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], T], *, seconds: float = 30.0) -> T:
    """The first answer that is true; the event loop goes on meanwhile."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < deadline, f"not within {seconds} s; last answer: {answer!r}"
        await asyncio.sleep(0.005)
    return answer
