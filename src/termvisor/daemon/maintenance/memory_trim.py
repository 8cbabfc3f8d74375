"""After work the daemon is as small as before it: what the database and the C library hold back is let go.

Without it the most that was ever needed at once would stay with us for ever.
"""

from collections.abc import Callable
from contextlib import suppress

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.store import Store
from termvisor.system.malloc import release_free_memory

_TRIM_INTERVAL_S = 10.0


class MemoryTrimmer:
    """``heard`` is how many bytes were read so far; where nothing was, nothing is done."""

    def __init__(self, store: Store, clock: Clock, get_bytes_read: Callable[[], int]):
        self._store, self._clock, self._get_bytes_read = store, clock, get_bytes_read

    async def run(self) -> None:
        rested_at = -1
        while True:
            await self._clock.sleep(_TRIM_INTERVAL_S)
            heard = self._get_bytes_read()
            if heard != rested_at:
                rested_at = heard
                with suppress(StorageError):  # it is told by who writes
                    await self._store.shrink_memory()
                release_free_memory(collect_garbage=True)
