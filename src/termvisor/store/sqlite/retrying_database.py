"""Retry writes that fail because of the disk or the database file, so that captured data is not lost.

Used by capture and tracking; operations use the plain database and get the error immediately. Writes to a damaged
database are retried too: a task that ended with the error would end the daemon, which could not start again. Writes to
a closed one are not.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.store.sqlite.database import Connection, Database, DatabaseClosed

RETRY_DELAY_S = 1.0
T = TypeVar("T")
log = get_logger("store")


class WriteRetry:
    """Retry policy shared by all writers. ``problem`` is the message to show while writes wait, else empty."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._is_stopped = False
        self.problem = ""

    async def __call__(self, write: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                result = await write()
            except StorageError as error:
                if self._is_stopped or isinstance(error, DatabaseClosed):
                    raise
                # Logged once; the alert in `visor health` stays until a write succeeds.
                if not self.problem:
                    log.error("writes to the database fail and are retried: %s", error)
                self.problem = f"nothing can be stored: {error}"
                await self._clock.sleep(RETRY_DELAY_S)
            else:
                self.problem = ""
                return result

    def stop_retrying(self) -> None:
        """Raise errors from now on, because a write that keeps retrying must not block the daemon's shutdown."""
        self._is_stopped = True


class RetryingDatabase(Database):
    """A view of a database that uses the same connections and threads, but retries writes."""

    def __init__(self, database: Database, retry: WriteRetry):
        super().__init__(database.path)
        self._database, self._retry = database, retry

    async def write(self, fn: Callable[[Connection], T]) -> T:
        return await self._retry(lambda: self._database.write(fn))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await self._database.read(fn)
