"""An in-memory store that works without threads, so that tests can fill it before an event loop runs."""

from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

from termvisor.clock import Clock
from termvisor.store import Store
from termvisor.store.sqlite.database import Connection, Database, open_connection, register_functions
from termvisor.store.sqlite.database_file import MIGRATIONS_DIR, apply_migrations

T = TypeVar("T")


def open_memory_store(clock: Clock) -> Store:
    """Return an empty store with the current schema. It is deleted with its last reference."""
    return Store(_MemoryDatabase(), clock)


class _MemoryDatabase(Database):
    def __init__(self) -> None:
        # Does not call the base __init__, which starts two threads. An in-memory database has only one connection.
        self.path = ":memory:"
        self._writer_connection = self._reader_connection = _copy_template()
        self._is_writable = True

    async def write(self, fn: Callable[[Connection], T]) -> T:
        return self._translate_errors(lambda: self._run_transaction(fn))

    async def write_durably(self, fn: Callable[[Connection], T], *, on_stored: Callable[[], object] | None = None) -> T:
        return self._translate_errors(lambda: self._run_durably(fn, on_stored))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return self._translate_errors(lambda: self._run_read(fn))


@cache
def _open_template() -> Connection:
    connection = open_connection(":memory:", is_new=True)
    apply_migrations(connection, MIGRATIONS_DIR)
    return connection


def _copy_template() -> Connection:
    """Return a copy of a migrated database, which takes a twentieth of the time of migrating."""
    connection = Connection(":memory:")
    register_functions(connection)
    with connection.backup("main", _open_template(), "main") as backup:
        backup.step()
    # As in the daemon, so that a test cannot store a row with a dangling reference.
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, such as a memory store call. Needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("the coroutine waits for something")
