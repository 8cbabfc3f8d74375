"""Share what several viewers watch: the same rows or the same screen are built once for all of them.

Invariant: a result is never older than the call that asked for it, and is built at most once per interval.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, Generic, TypeVar

from termvisor.clock import Clock

T = TypeVar("T")


class SharedResult(Generic[T]):
    """A value that callers rebuild together. ``interval`` is the least number of seconds between two builds."""

    def __init__(self, clock: Clock, interval: float):
        self._clock, self._interval = clock, interval
        self._lock, self._begun_at = asyncio.Lock(), -inf
        self._begun = self._done = 0
        """How many builds were begun, and the number of the one that made the value."""
        self._value: Any = None
        self.viewers = 0

    async def fetch(self, build: Callable[[Any], Awaitable[T]]) -> T:
        """Return a value whose build began after this call; ``build`` gets the last value, or None."""
        begun_before = self._begun
        async with self._lock:
            if self._done <= begun_before:
                if (wait := self._begun_at + self._interval - self._clock.monotonic()) > 0:
                    await self._clock.sleep(wait)
                self._begun, self._begun_at = self._begun + 1, self._clock.monotonic()
                self._value = await build(self._value)
                self._done = self._begun
            value: T = self._value
            return value


class SharedResults:
    """Shared results by key; one exists as long as it has a viewer."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._by_key: dict[Hashable, SharedResult[Any]] = {}

    @contextmanager
    def open(self, key: Hashable, interval: float) -> Iterator[SharedResult[Any]]:
        """Join the viewers of a result. The first one decides the interval."""
        shared = self._by_key.setdefault(key, SharedResult(self._clock, interval))
        shared.viewers += 1
        try:
            yield shared
        finally:
            shared.viewers -= 1
            if not shared.viewers:
                del self._by_key[key]
