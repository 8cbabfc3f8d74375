"""Writes that wait until the disk takes them again: for the watching side, which would otherwise lose what it knows.

Whoever asks by an op gets the error at once instead. A damaged or closed database is no matter of patience.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.error_messages import may_pass

AGAIN_FOR = 1.0
T = TypeVar("T")
log = logger("store")


class Patience:
    """``trouble`` says what everybody is waiting for, for a person to read."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._is_over = False
        self.trouble = ""

    async def __call__(self, write: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                done = await write()
            except StorageError as error:
                if self._is_over or not may_pass(error):
                    raise
                if not self.trouble:
                    log.error("nothing can be stored: %s", error)
                self.trouble = f"nothing can be stored: {error}"
                await self._clock.sleep(AGAIN_FOR)
            else:
                self.trouble = ""
                return done

    def end(self) -> None:
        """From now on whoever cannot store gets the error: the daemon is to end."""
        self._is_over = True


class PatientDatabase(Database):
    """The same database, with the same connections and threads; only its writes wait."""

    def __init__(self, database: Database, patience: Patience):
        super().__init__(database.path)
        self._database, self._patience = database, patience

    async def write(self, fn: Callable[[Connection], T]) -> T:
        return await self._patience(lambda: self._database.write(fn))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await self._database.read(fn)
