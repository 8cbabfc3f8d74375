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
from termvisor.log import logger
from termvisor.store.sqlite.error_messages import translated
from termvisor.store.sqlite.file_header import APPLICATION_ID, peek
from termvisor.store.sqlite.migrations import FOLDER, latest, migrate
from termvisor.store.sqlite.worker_thread import Worker

T = TypeVar("T")
log = logger("store")
Connection = apsw.Connection
Token = tuple[int, int, str]
"""Where a word begins and ends in the UTF-8 of its text, and the word as the index knows it."""

PAGE = 8192
INCREMENTAL = 2
"""Room of deleted rows is given back in small steps, when asked: a whole rewrite would hold up every write."""
_SMALL_PAGES = (64 << 20) // PAGE
_BUSY_MS = 5000
_SETTINGS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -4096",
    "PRAGMA mmap_size = 0",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA journal_size_limit = {2048 * PAGE}",
)


class Database:
    """Open it with `Database.open`; hand `write` and `read` a callable that takes the connection."""

    def __init__(self, path: str):
        self.path = path
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._writing = Worker("store-writer")
        self._reading = Worker("store-reader")
        self._is_writable = True

    @classmethod
    async def open(cls, path: str, migrations: str = FOLDER) -> "Database":
        database = cls(path)
        try:
            await database._in(database._writing, lambda: database._start(migrations))
        except BaseException:
            database._drop()
            raise
        return database

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """Run ``fn`` in a transaction of its own; what it raises undoes it."""
        return await self._in(self._writing, lambda: self._transaction(fn))

    async def write_durably(self, fn: Callable[[Connection], T], *, then: Callable[[], object] | None = None) -> T:
        """Like `write`, and on disk when it returns: what must not be forgotten even if the power fails.

        ``then`` is called in the writer's thread once it is on disk, also when the caller no longer waits.
        """
        return await self._in(self._writing, lambda: self._durably(fn, then))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run ``fn`` on one consistent view of the database; it cannot write."""
        return await self._in(self._reading, lambda: self._view(fn))

    async def checkpoint(self) -> int:
        """Move what waits in the write-ahead file into the database; the number of pages that still wait."""
        return await self._in(self._writing, lambda: _checkpoint(_opened(self._writer)))

    async def rest(self) -> None:
        """Let go of the pages that are held in memory; they are read again when they are asked for."""
        await self._in(self._writing, lambda: _opened(self._writer).pragma("shrink_memory"))
        await self._in(self._reading, lambda: _opened(self._reader).pragma("shrink_memory"))

    async def apart(self, fn: Callable[[Connection], T]) -> T:
        """Run long work on a connection and thread of its own, outside any transaction; nobody waits for it."""
        return await asyncio.to_thread(self._translated, lambda: _on_its_own(self.path, fn))

    async def sizes(self) -> tuple[int, int]:
        """Bytes of the database with its write-ahead file, and the pages in that."""
        ahead = _size(self.path + "-wal")
        return _size(self.path) + ahead, max(0, ahead - 32) // (PAGE + 24)

    def is_writable(self) -> bool:
        """Whether the last write went well and the next one may."""
        return self._is_writable and os.access(self.path, os.W_OK)

    async def close(self) -> None:
        """Finish what waits, checkpoint, let go of the file. A second call does nothing."""
        try:
            if self._writer is not None:
                await self.checkpoint()
        except StorageError as error:  # what waits in the write-ahead file stays there for the next who opens it
            log.warning("closing without a checkpoint: %s", error)
        finally:
            await asyncio.to_thread(self._drop)

    async def _in(self, thread: Worker, work: Callable[[], T]) -> T:
        try:
            waiting = thread.do(lambda: self._translated(work))
        except RuntimeError as error:
            raise _closed() from error
        return await waiting

    def _translated(self, work: Callable[[], T]) -> T:
        with translated(self.path):
            return work()

    def _start(self, migrations: str) -> None:
        is_new = _inspect(self.path, latest(migrations))
        self._writer = connect(self.path, is_new)
        migrate(self._writer, migrations)
        _make_shrinkable(self._writer)
        self._writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        self._reader = connect(self.path)
        self._reader.execute("PRAGMA query_only = ON; PRAGMA cache_size = -2048")

    def _transaction(self, fn: Callable[[Connection], T]) -> T:
        connection = _opened(self._writer)
        try:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                result = fn(connection)
        except apsw.Error as error:
            self._is_writable = not isinstance(error, (apsw.FullError, apsw.ReadOnlyError, apsw.IOError))
            raise
        self._is_writable = True
        return result

    def _durably(self, fn: Callable[[Connection], T], then: Callable[[], object] | None) -> T:
        connection = _opened(self._writer)
        connection.execute("PRAGMA synchronous = FULL")
        try:
            result = self._transaction(fn)
        finally:
            connection.execute("PRAGMA synchronous = NORMAL")
        if then is not None:
            then()
        return result

    def _view(self, fn: Callable[[Connection], T]) -> T:
        connection = _opened(self._reader)
        with _transaction(connection, "BEGIN"):
            return fn(connection)

    def _drop(self) -> None:
        self._reading.close()
        self._writing.close()
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None


@functools.cache
def tokeniser() -> Callable[[str], list[Token]]:
    """Splits a text into words exactly as the index does: letters and digits, without case and diacritics."""
    split = Connection(":memory:").fts5_tokenizer("unicode61", [])

    def tokens(text: str) -> list[Token]:
        data = text.encode("utf-8", "replace")
        return cast("list[Token]", split(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False))

    return tokens


def _inspect(path: str, known: int) -> bool:
    """Refuse what is not ours to touch; make the file, private, when it is new. True for a new one."""
    header = peek(path)
    if header is None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    elif not header.is_ours:
        kind = "belongs to another program" if header.is_database else "is not a database"
        raise StorageError(f"{path} {kind}", hint="It was left as it is. Move it away to begin a new one.")
    elif header.version > known:
        raise NewerDatabase(f"{path} has schema {header.version}; this version knows {known}")
    if os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o600)
    return header is None


def connect(path: str, is_new: bool = False) -> Connection:
    connection = Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # A damaged file must not be written to when we let go of it; `_start` lifts this once all is well.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.set_busy_timeout(_BUSY_MS)
        if is_new:
            connection.pragma("page_size", PAGE)
            connection.pragma("auto_vacuum", INCREMENTAL)
            connection.pragma("application_id", APPLICATION_ID)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.pragma("journal_mode", "wal")
        connection.execute(";".join(_SETTINGS)).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _make_shrinkable(connection: Connection) -> None:
    """A small file from before that was so learns to give room back; a large one goes on using it again."""
    if connection.pragma("auto_vacuum") != INCREMENTAL and connection.pragma("page_count") < _SMALL_PAGES:
        connection.pragma("auto_vacuum", INCREMENTAL)
        connection.execute("VACUUM")


@contextlib.contextmanager
def _transaction(connection: Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _on_its_own(path: str, fn: Callable[[Connection], T]) -> T:
    with contextlib.closing(connect(path)) as connection:
        return fn(connection)


def _checkpoint(connection: Connection) -> int:
    waiting, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    return max(0, waiting - moved)


def _opened(connection: Connection | None) -> Connection:
    if connection is None:
        raise _closed()
    return connection


def _closed() -> StorageError:
    return StorageError("the database is closed", hint="Start the daemon again.")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
