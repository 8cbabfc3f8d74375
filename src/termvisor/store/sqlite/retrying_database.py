"""Writes that wait until the disk takes them again: for the watching side, which would otherwise lose what it knows.

Whoever asks by an op gets the error at once instead. A damaged or closed database is no matter of patience.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.error_messages import is_transient_error

RETRY_DELAY_S = 1.0
T = TypeVar("T")
log = get_logger("store")


class WriteRetry:
    """``trouble`` says what everybody is waiting for, for a person to read."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._is_stopped = False
        self.problem = ""

    async def __call__(self, write: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                done = await write()
            except StorageError as error:
                if self._is_stopped or not is_transient_error(error):
                    raise
                if not self.problem:
                    log.error("nothing can be stored: %s", error)
                self.problem = f"nothing can be stored: {error}"
                await self._clock.sleep(RETRY_DELAY_S)
            else:
                self.problem = ""
                return done

    def stop_retrying(self) -> None:
        """From now on whoever cannot store gets the error: the daemon is to end."""
        self._is_stopped = True


class RetryingDatabase(Database):
    """The same database, with the same connections and threads; only its writes wait."""

    def __init__(self, database: Database, retry: WriteRetry):
        super().__init__(database.path)
        self._database, self._retry = database, retry

    async def write(self, fn: Callable[[Connection], T]) -> T:
        return await self._retry(lambda: self._database.write(fn))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await self._database.read(fn)
