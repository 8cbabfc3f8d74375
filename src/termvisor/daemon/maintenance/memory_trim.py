"""Return unused memory of SQLite and the C library to the system after output was processed.

Without this the process would keep the size of its largest peak.
"""

from collections.abc import Callable
from contextlib import suppress

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.store import Store
from termvisor.system.malloc import release_free_memory

_TRIM_INTERVAL_S = 10.0


class MemoryTrimmer:
    """Trim memory periodically, but only if ``get_bytes_read`` grew since the last time."""

    def __init__(self, store: Store, clock: Clock, get_bytes_read: Callable[[], int]):
        self._store, self._clock, self._get_bytes_read = store, clock, get_bytes_read

    async def run(self) -> None:
        trimmed_at = -1
        while True:
            await self._clock.sleep(_TRIM_INTERVAL_S)
            bytes_read = self._get_bytes_read()
            if bytes_read != trimmed_at:
                trimmed_at = bytes_read
                with suppress(StorageError):  # the writers report a store that fails
                    await self._store.shrink_memory()
                release_free_memory(collect_garbage=True)
