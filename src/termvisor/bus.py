"""In-process publish/subscribe for facts that are already stored.

A slow subscriber never blocks the publisher: its queue is bounded, the oldest item is dropped and counted in
`dropped_count`, and the subscriber then re-reads the store from its own cursor.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from termvisor.clock import Clock

T = TypeVar("T")


class Subscription(Generic[T]):
    def __init__(self, queue_size: int):
        self._queue: deque[T] = deque(maxlen=queue_size)
        self._has_items = asyncio.Event()
        self.dropped_count = 0
        self.is_wanted: Callable[[T], bool] = lambda item: True
        """Filter. Items that do not pass are not queued and do not wake the subscriber."""

    def put(self, item: T) -> None:
        if not self.is_wanted(item):
            return
        # A full deque drops its oldest item by itself, so only count it here.
        if len(self._queue) == self._queue.maxlen:
            self.dropped_count += 1
        self._queue.append(item)
        self._has_items.set()

    async def get(self) -> T:
        """Return the next item, waiting for one if necessary."""
        while not self._queue:
            # No await between the check and this, so no item can arrive in between and have its wake-up cleared.
            self._has_items.clear()
            await self._has_items.wait()
        return self._queue.popleft()

    def drain(self) -> list[T]:
        """Remove and return all queued items without waiting."""
        items = list(self._queue)
        self._queue.clear()
        return items


class Bus(Generic[T]):
    """One topic. Not thread-safe: publish and subscribe in the event loop's thread."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription[T]] = set()

    def publish(self, item: T) -> None:
        for subscription in self._subscriptions:
            subscription.put(item)

    @contextmanager
    def subscribe(self, queue_size: int = 1024) -> Iterator[Subscription[T]]:
        subscription: Subscription[T] = Subscription(queue_size)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)


async def wait_for_update(clock: Clock, timeout: float, *subscriptions: Subscription[Any]) -> list[Any]:
    """Return the items that arrived first, or an empty list after ``timeout`` seconds.

    An item that arrives while the other waits are cancelled may be lost, so re-read the store instead of relying on it.
    """
    async with asyncio.TaskGroup() as group:
        timer = group.create_task(clock.sleep(timeout))
        waits = [group.create_task(subscription.get()) for subscription in subscriptions]
        done, _ = await asyncio.wait([timer, *waits], return_when=asyncio.FIRST_COMPLETED)
        # The group would otherwise wait for the timer and for subscriptions that stay silent.
        for task in (timer, *waits):
            task.cancel()
    return [task.result() for task in waits if task in done]
