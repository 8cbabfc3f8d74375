"""How many runs work at once. Whoever waits longest is next; who only waits for a person or a time takes no place."""

import asyncio
from collections import deque
from collections.abc import Callable


class Slots:
    def __init__(self, most: Callable[[], int]):
        self._most = most
        self.working = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """A place, in the order in which it was asked for."""
        if not self._waiting and self.working < self._most():
            self.working += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
            elif not place.cancelled():
                self.give()  # it came in the same moment
            raise

    def give(self) -> None:
        self.working -= 1
        self.look()

    def look(self) -> None:
        """Let in whoever may work now, also after the setting was raised."""
        while self._waiting and self.working < self._most():
            place = self._waiting.popleft()
            if not place.done():
                self.working += 1
                place.set_result(None)


class Seat:
    """One run's place; it knows whether it has one."""

    def __init__(self, slots: Slots):
        self._slots, self._is_taken = slots, False

    async def take(self) -> None:
        if not self._is_taken:
            await self._slots.take()
            self._is_taken = True

    def rest(self) -> None:
        """Others may work meanwhile."""
        if self._is_taken:
            self._is_taken = False
            self._slots.give()

    def press_in(self) -> None:
        """Beyond the limit: a person has just answered, and the run is in the middle of an act."""
        if not self._is_taken:
            self._is_taken = True
            self._slots.working += 1
