"""The only file that opens SQLite: one writer thread and one reader thread, each with its own connection.

A write is a callable that runs in one transaction of its own; it is stored whole or not at all. Calls queue behind
each other in their thread, and every caller waits for its own, so a queue is never longer than its callers.
SQLite's errors are translated here, once. A file that is damaged, foreign or newer is left as it is.
"""

import asyncio
import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import apsw

from termvisor.errors import NewerDatabase, StorageError
from termvisor.log import get_logger
from termvisor.store.sqlite.error_messages import translate_errors
from termvisor.store.sqlite.file_header import APPLICATION_ID, read_database_header
from termvisor.store.sqlite.migrations import MIGRATIONS_DIR, apply_migrations, find_latest_version
from termvisor.store.sqlite.worker_thread import WorkerThread

T = TypeVar("T")
log = get_logger("store")
Connection = apsw.Connection
TokenSpan = tuple[int, int, str]
"""Where a word begins and ends in the UTF-8 of its text, and the word as the index knows it."""

PAGE_SIZE = 8192
AUTO_VACUUM_INCREMENTAL = 2
"""Room of deleted rows is given back in small steps, when asked: a whole rewrite would hold up every write."""
_MAX_PAGES_TO_VACUUM = (64 << 20) // PAGE_SIZE
_BUSY_TIMEOUT_MS = 5000
_CONNECTION_PRAGMAS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -4096",
    "PRAGMA mmap_size = 0",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA journal_size_limit = {2048 * PAGE_SIZE}",
)


class Database:
    """Open it with `Database.open`; hand `write` and `read` a callable that takes the connection."""

    def __init__(self, path: str):
        self.path = path
        self._writer_connection: Connection | None = None
        self._reader_connection: Connection | None = None
        self._writer_thread = WorkerThread("store-writer")
        self._reader_thread = WorkerThread("store-reader")
        self._is_writable = True

    @classmethod
    async def open(cls, path: str, migrations: str = MIGRATIONS_DIR) -> "Database":
        database = cls(path)
        try:
            await database._run_in_thread(database._writer_thread, lambda: database._open_connections(migrations))
        except BaseException:
            database._release()
            raise
        return database

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """Run ``fn`` in a transaction of its own; what it raises undoes it."""
        return await self._run_in_thread(self._writer_thread, lambda: self._run_transaction(fn))

    async def write_durably(self, fn: Callable[[Connection], T], *, on_stored: Callable[[], object] | None = None) -> T:
        """Like `write`, and on disk when it returns: what must not be forgotten even if the power fails.

        ``then`` is called in the writer's thread once it is on disk, also when the caller no longer waits.
        """
        return await self._run_in_thread(self._writer_thread, lambda: self._run_durably(fn, on_stored))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run ``fn`` on one consistent view of the database; it cannot write."""
        return await self._run_in_thread(self._reader_thread, lambda: self._run_read(fn))

    async def checkpoint(self) -> int:
        """Move what waits in the write-ahead file into the database; the number of pages that still wait."""
        return await self._run_in_thread(
            self._writer_thread, lambda: _run_checkpoint(_require_open(self._writer_connection))
        )

    async def shrink_memory(self) -> None:
        """Let go of the pages that are held in memory; they are read again when they are asked for."""
        await self._run_in_thread(
            self._writer_thread, lambda: _require_open(self._writer_connection).pragma("shrink_memory")
        )
        await self._run_in_thread(
            self._reader_thread, lambda: _require_open(self._reader_connection).pragma("shrink_memory")
        )

    async def run_on_own_connection(self, fn: Callable[[Connection], T]) -> T:
        """Run long work on a connection and thread of its own, outside any transaction; nobody waits for it."""
        return await asyncio.to_thread(self._translate_errors, lambda: _run_with_connection(self.path, fn))

    async def measure_sizes(self) -> tuple[int, int]:
        """Bytes of the database with its write-ahead file, and the pages in that."""
        ahead = _get_file_size(self.path + "-wal")
        return _get_file_size(self.path) + ahead, max(0, ahead - 32) // (PAGE_SIZE + 24)

    def is_writable(self) -> bool:
        """Whether the last write went well and the next one may."""
        return self._is_writable and os.access(self.path, os.W_OK)

    async def close(self) -> None:
        """Finish what waits, checkpoint, let go of the file. A second call does nothing."""
        try:
            if self._writer_connection is not None:
                await self.checkpoint()
        except StorageError as error:  # what waits in the write-ahead file stays there for the next who opens it
            log.warning("closing without a checkpoint: %s", error)
        finally:
            await asyncio.to_thread(self._release)

    async def _run_in_thread(self, thread: WorkerThread, work: Callable[[], T]) -> T:
        try:
            waiting = thread.submit(lambda: self._translate_errors(work))
        except RuntimeError as error:
            raise _build_closed_error() from error
        return await waiting

    def _translate_errors(self, work: Callable[[], T]) -> T:
        with translate_errors(self.path):
            return work()

    def _open_connections(self, migrations: str) -> None:
        is_new = _check_file(self.path, find_latest_version(migrations))
        self._writer_connection = open_connection(self.path, is_new)
        apply_migrations(self._writer_connection, migrations)
        _enable_incremental_vacuum(self._writer_connection)
        self._writer_connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        self._reader_connection = open_connection(self.path)
        self._reader_connection.execute("PRAGMA query_only = ON; PRAGMA cache_size = -2048")

    def _run_transaction(self, fn: Callable[[Connection], T]) -> T:
        connection = _require_open(self._writer_connection)
        try:
            with _open_transaction(connection, "BEGIN IMMEDIATE"):
                result = fn(connection)
        except apsw.Error as error:
            self._is_writable = not isinstance(error, (apsw.FullError, apsw.ReadOnlyError, apsw.IOError))
            raise
        self._is_writable = True
        return result

    def _run_durably(self, fn: Callable[[Connection], T], on_stored: Callable[[], object] | None) -> T:
        connection = _require_open(self._writer_connection)
        connection.execute("PRAGMA synchronous = FULL")
        try:
            result = self._run_transaction(fn)
        finally:
            connection.execute("PRAGMA synchronous = NORMAL")
        if on_stored is not None:
            on_stored()
        return result

    def _run_read(self, fn: Callable[[Connection], T]) -> T:
        connection = _require_open(self._reader_connection)
        with _open_transaction(connection, "BEGIN"):
            return fn(connection)

    def _release(self) -> None:
        self._reader_thread.close()
        self._writer_thread.close()
        for connection in (self._reader_connection, self._writer_connection):
            if connection is not None:
                connection.close()
        self._reader_connection = self._writer_connection = None


@functools.cache
def get_tokenizer() -> Callable[[str], list[TokenSpan]]:
    """Splits a text into words exactly as the index does: letters and digits, without case and diacritics."""
    split = Connection(":memory:").fts5_tokenizer("unicode61", [])

    def split_tokens(text: str) -> list[TokenSpan]:
        data = text.encode("utf-8", "replace")
        return cast("list[TokenSpan]", split(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False))

    return split_tokens


def _check_file(path: str, known_version: int) -> bool:
    """Refuse what is not ours to touch; make the file, private, when it is new. True for a new one."""
    header = read_database_header(path)
    if header is None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    elif not header.is_termvisor:
        kind = "belongs to another program" if header.is_database else "is not a database"
        raise StorageError(f"{path} {kind}", hint="It was left as it is. Move it away to begin a new one.")
    elif header.version > known_version:
        raise NewerDatabase(f"{path} has schema {header.version}; this version knows {known_version}")
    if os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o600)
    return header is None


def open_connection(path: str, is_new: bool = False) -> Connection:
    connection = Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # A damaged file must not be written to when we let go of it; `_start` lifts this once all is well.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        if is_new:
            connection.pragma("page_size", PAGE_SIZE)
            connection.pragma("auto_vacuum", AUTO_VACUUM_INCREMENTAL)
            connection.pragma("application_id", APPLICATION_ID)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.pragma("journal_mode", "wal")
        connection.execute(";".join(_CONNECTION_PRAGMAS)).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _enable_incremental_vacuum(connection: Connection) -> None:
    """A small file from before that was so learns to give room back; a large one goes on using it again."""
    if (
        connection.pragma("auto_vacuum") != AUTO_VACUUM_INCREMENTAL
        and connection.pragma("page_count") < _MAX_PAGES_TO_VACUUM
    ):
        connection.pragma("auto_vacuum", AUTO_VACUUM_INCREMENTAL)
        connection.execute("VACUUM")


@contextlib.contextmanager
def _open_transaction(connection: Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run_with_connection(path: str, fn: Callable[[Connection], T]) -> T:
    with contextlib.closing(open_connection(path)) as connection:
        return fn(connection)


def _run_checkpoint(connection: Connection) -> int:
    waiting, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    return max(0, waiting - moved)


def _require_open(connection: Connection | None) -> Connection:
    if connection is None:
        raise _build_closed_error()
    return connection


def _build_closed_error() -> StorageError:
    return StorageError("the database is closed", hint="Start the daemon again.")


def _get_file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
