"""In-process news: facts that were stored are told here, to whoever listens now.

A slow listener never holds up the teller: its queue is bounded, the oldest news is dropped and `missed` is counted,
and the listener re-reads the store from its own cursor.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Subscription(Generic[T]):
    def __init__(self, size: int):
        self._news: deque[T] = deque(maxlen=size)
        self._wake = asyncio.Event()
        self.missed = 0
        self.wants: Callable[[T], bool] = lambda item: True
        """Whoever wants little is not woken for the rest."""

    def put(self, item: T) -> None:
        if not self.wants(item):
            return
        if len(self._news) == self._news.maxlen:
            self.missed += 1
        self._news.append(item)
        self._wake.set()

    async def get(self) -> T:
        """The next piece of news; waits for it."""
        while not self._news:
            self._wake.clear()
            await self._wake.wait()
        return self._news.popleft()

    def drain(self) -> list[T]:
        """Everything that waits, without waiting."""
        items = list(self._news)
        self._news.clear()
        return items


class Bus(Generic[T]):
    """One topic. Publish and subscribe from the event loop's thread only."""

    def __init__(self) -> None:
        self._listeners: set[Subscription[T]] = set()

    def publish(self, item: T) -> None:
        for listener in self._listeners:
            listener.put(item)

    @contextmanager
    def subscribe(self, size: int = 1024) -> Iterator[Subscription[T]]:
        subscription: Subscription[T] = Subscription(size)
        self._listeners.add(subscription)
        try:
            yield subscription
        finally:
            self._listeners.discard(subscription)
