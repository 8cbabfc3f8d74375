"""Limit how many runs work at once, first come, first served; a run that waits for a person or a time has no slot."""

import asyncio
from collections import deque
from collections.abc import Callable


class RunSlots:
    def __init__(self, get_limit: Callable[[], int]):
        self._get_limit = get_limit
        self.in_use = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait for a free slot, in the order of the calls."""
        if not self._waiters and self.in_use < self._get_limit():
            self.in_use += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            elif not waiter.cancelled():
                self.release()  # the slot was assigned before the cancellation arrived
            raise

    def release(self) -> None:
        self.in_use -= 1
        self.wake_waiters()

    def wake_waiters(self) -> None:
        """Assign free slots to the waiters; also called after the limit was raised."""
        while self._waiters and self.in_use < self._get_limit():
            waiter = self._waiters.popleft()
            if not waiter.done():
                self.in_use += 1
                waiter.set_result(None)


class RunSlot:
    """The slot of one run, acquired at most once."""

    def __init__(self, slots: RunSlots):
        self._slots, self._is_acquired = slots, False

    async def acquire(self) -> None:
        if not self._is_acquired:
            await self._slots.acquire()
            self._is_acquired = True

    def release(self) -> None:
        if self._is_acquired:
            self._is_acquired = False
            self._slots.release()

    def acquire_over_limit(self) -> None:
        """Acquire a slot even beyond the limit: a person has just approved an action that the run is executing."""
        if not self._is_acquired:
            self._is_acquired = True
            self._slots.in_use += 1
