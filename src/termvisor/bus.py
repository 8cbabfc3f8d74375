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
    def __init__(self, queue_size: int):
        self._queue: deque[T] = deque(maxlen=queue_size)
        self._has_items = asyncio.Event()
        self.dropped_count = 0
        self.is_wanted: Callable[[T], bool] = lambda item: True
        """Whoever wants little is not woken for the rest."""

    def put(self, item: T) -> None:
        if not self.is_wanted(item):
            return
        if len(self._queue) == self._queue.maxlen:
            self.dropped_count += 1
        self._queue.append(item)
        self._has_items.set()

    async def get(self) -> T:
        """The next piece of news; waits for it."""
        while not self._queue:
            self._has_items.clear()
            await self._has_items.wait()
        return self._queue.popleft()

    def drain(self) -> list[T]:
        """Everything that waits, without waiting."""
        items = list(self._queue)
        self._queue.clear()
        return items


class Bus(Generic[T]):
    """One topic. Publish and subscribe from the event loop's thread only."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription[T]] = set()

    def publish(self, item: T) -> None:
        for listener in self._subscriptions:
            listener.put(item)

    @contextmanager
    def subscribe(self, queue_size: int = 1024) -> Iterator[Subscription[T]]:
        subscription: Subscription[T] = Subscription(queue_size)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
