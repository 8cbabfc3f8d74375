"""After work the daemon is as small as before it: what the database and the C library hold back is let go.

Without it the most that was ever needed at once would stay with us for ever.
"""

from collections.abc import Callable
from contextlib import suppress

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.store import Store
from termvisor.system.malloc import give_back

_EVERY = 10.0


class Resting:
    """``heard`` is how many bytes were read so far; where nothing was, nothing is done."""

    def __init__(self, store: Store, clock: Clock, heard: Callable[[], int]):
        self._store, self._clock, self._heard = store, clock, heard

    async def run(self) -> None:
        rested_at = -1
        while True:
            await self._clock.sleep(_EVERY)
            heard = self._heard()
            if heard != rested_at:
                rested_at = heard
                with suppress(StorageError):  # it is told by who writes
                    await self._store.rest()
                give_back(garbage=True)
