"""How many runs work at once. Whoever waits longest is next; who only waits for a person or a time takes no place."""

import asyncio
from collections import deque
from collections.abc import Callable


class RunSlots:
    def __init__(self, get_limit: Callable[[], int]):
        self._get_limit = get_limit
        self.in_use = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """A place, in the order in which it was asked for."""
        if not self._waiters and self.in_use < self._get_limit():
            self.in_use += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place in self._waiters:
                self._waiters.remove(place)
            elif not place.cancelled():
                self.release()  # it came in the same moment
            raise

    def release(self) -> None:
        self.in_use -= 1
        self.wake_waiters()

    def wake_waiters(self) -> None:
        """Let in whoever may work now, also after the setting was raised."""
        while self._waiters and self.in_use < self._get_limit():
            place = self._waiters.popleft()
            if not place.done():
                self.in_use += 1
                place.set_result(None)


class RunSlot:
    """One run's place; it knows whether it has one."""

    def __init__(self, slots: RunSlots):
        self._slots, self._is_acquired = slots, False

    async def acquire(self) -> None:
        if not self._is_acquired:
            await self._slots.acquire()
            self._is_acquired = True

    def release(self) -> None:
        """Others may work meanwhile."""
        if self._is_acquired:
            self._is_acquired = False
            self._slots.release()

    def acquire_over_limit(self) -> None:
        """Beyond the limit: a person has just answered, and the run is in the middle of an act."""
        if not self._is_acquired:
            self._is_acquired = True
            self._slots.in_use += 1
