"""Open SQLite with one writer thread and one reader thread, each with its own connection.

A write is a callable that runs in its own transaction and is committed as a whole or not at all. Each thread has a
queue of calls. Every caller awaits its call, so a queue is never longer than the number of callers. SQLite errors are
translated only here. A file that is damaged, of another program or of a newer version is not modified.
"""

import asyncio
import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import apsw

from termvisor.errors import NewerDatabase, StorageError
from termvisor.log import get_logger
from termvisor.store.sqlite import database_file
from termvisor.store.sqlite.index_text import OffsetMap, is_rewritten, rewrite_for_index
from termvisor.store.sqlite.storage_errors import FileGuard, RepairableDamage, translate_errors
from termvisor.store.sqlite.worker_thread import WorkerThread

T = TypeVar("T")
log = get_logger("store")
Connection = apsw.Connection
TokenSpan = tuple[int, int, str]
"""Byte offsets of a token in the UTF-8 text, and the token as the index stores it."""

PAGE_SIZE = 8192
AUTO_VACUUM_INCREMENTAL = 2
"""Free pages are released in small steps on request, because a full VACUUM would block every write."""
# Files up to 64 MB are converted to incremental vacuum when they are opened; larger ones would delay the start.
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


class DatabaseClosed(StorageError):
    """The database was closed, because the daemon is stopping."""


class Database:
    """An open database file. Create it with `Database.open`; `write` and `read` run a callable on the connection."""

    def __init__(self, path: str):
        self.path = path
        self._writer_connection: Connection | None = None
        self._reader_connection: Connection | None = None
        self._writer_thread = WorkerThread("store-writer")
        self._reader_thread = WorkerThread("store-reader")
        self._is_writable = True
        self._guard = FileGuard(path)
        self._repair_lock = asyncio.Lock()
        self.damage = self.repair_notice = ""
        """What is wrong with the files now, so that nothing can be stored; and what was wrong and has been repaired."""

    @classmethod
    async def open(cls, path: str, migrations: str = database_file.MIGRATIONS_DIR) -> "Database":
        database = cls(path)
        try:
            await database._run_in_thread(database._writer_thread, lambda: database._open_connections(migrations))
        except BaseException:
            # The threads must end even if the caller is cancelled.
            database._release()
            raise
        return database

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """Run ``fn`` in its own transaction; an exception rolls it back."""
        return await self._run_guarded(lambda: self._run_transaction(fn))

    async def write_durably(self, fn: Callable[[Connection], T], *, on_stored: Callable[[], object] | None = None) -> T:
        """Run ``fn`` like `write`, and sync it to disk before returning, so that it survives a power failure.

        ``on_stored`` is called in the writer thread after the sync, even if the caller was cancelled in the meantime.
        """
        return await self._run_guarded(lambda: self._run_durably(fn, on_stored))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run ``fn`` on one consistent, read-only view of the database."""
        return await self._run_in_thread(self._reader_thread, lambda: self._run_read(fn))

    async def checkpoint(self) -> int:
        """Move the write-ahead log into the database; return the number of pages that could not be moved yet."""
        return await self._run_guarded(lambda: _run_checkpoint(_require_open(self._writer_connection)))

    async def check_files(self) -> None:
        """Repair what another program did to the files. Raises StorageError if that is not possible."""
        await self._run_guarded(lambda: None)

    async def shrink_memory(self) -> None:
        """Free the page caches of both connections."""
        await self._run_in_thread(
            self._writer_thread, lambda: _require_open(self._writer_connection).pragma("shrink_memory")
        )
        await self._run_in_thread(
            self._reader_thread, lambda: _require_open(self._reader_connection).pragma("shrink_memory")
        )

    async def run_on_own_connection(self, fn: Callable[[Connection], T]) -> T:
        """Run long work on its own connection and thread, outside any transaction, without blocking other calls."""
        return await asyncio.to_thread(self._translate_errors, lambda: _run_with_connection(self.path, fn))

    async def measure_sizes(self) -> tuple[int, int]:
        """Return the size of the database and its write-ahead log in bytes, and the number of pages in that log."""
        wal_bytes = _get_file_size(self.path + "-wal")
        # A WAL file has a 32-byte header and a 24-byte header before each page.
        return _get_file_size(self.path) + wal_bytes, max(0, wal_bytes - 32) // (PAGE_SIZE + 24)

    def is_writable(self) -> bool:
        """Return True if the last write succeeded and the file permits writing."""
        return self._is_writable and os.access(self.path, os.W_OK)

    async def close(self) -> None:
        """Finish queued calls, checkpoint and close the connections. Idempotent."""
        try:
            if self._writer_connection is not None:
                await self.checkpoint()
        except StorageError as error:
            # SQLite replays the write-ahead log the next time the file is opened.
            log.warning("closing without a checkpoint: %s", error)
        finally:
            await asyncio.to_thread(self._release)

    async def _run_guarded(self, work: Callable[[], T]) -> T:
        """Run work in the writer thread, after checking that the files are ours and repairing them if needed."""
        try:
            return await self._run_in_thread(self._writer_thread, lambda: self._run_if_intact(work))
        except RepairableDamage as damage:
            async with self._repair_lock:
                await self._rewrite_file(damage)
        return await self._run_in_thread(self._writer_thread, lambda: self._run_if_intact(work))

    def _run_if_intact(self, work: Callable[[], T]) -> T:
        connection = _require_open(self._writer_connection)
        try:
            self._guard.check(connection.pragma("page_count") * PAGE_SIZE)
        except StorageError as error:
            self.damage, self._is_writable = str(error), False
            # Closing must not checkpoint into a file that is not ours or not whole.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            raise
        self.damage = ""
        result = work()
        self._guard.remember()
        return result

    async def _rewrite_file(self, damage: RepairableDamage) -> None:
        """Write everything that the connections have to a new file, and continue with that file."""
        try:
            await self._run_in_thread(self._writer_thread, lambda: self._guard.check(0))
            return  # repaired by another caller
        except RepairableDamage:
            log.error("%s; writing the file again", damage)
        is_parked, is_rewritten = threading.Event(), threading.Event()
        reader = self._reader_thread.submit(
            lambda: self._translate_errors(lambda: self._park_reader(is_parked, is_rewritten))
        )
        try:
            await self._run_in_thread(self._writer_thread, lambda: self._rewrite_in_thread(is_parked))
        finally:
            is_rewritten.set()
            await reader
        self.repair_notice = f"{damage}; it was written again at once and nothing was lost"
        log.warning("the database was written again")

    def _park_reader(self, is_parked: threading.Event, is_rewritten: threading.Event) -> None:
        """Close the reader's connection and open it again once the file is rewritten."""
        if self._reader_connection is not None:
            self._reader_connection.close()
        is_parked.set()
        is_rewritten.wait()
        self._reader_connection = _open_reader(self.path)

    def _rewrite_in_thread(self, is_parked: threading.Event) -> None:
        is_parked.wait()
        connection, temporary = _require_open(self._writer_connection), f"{self.path}.new"
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        with contextlib.closing(Connection(temporary)) as copy, copy.backup("main", connection, "main") as backup:
            backup.step()
        connection.close()
        for suffix in ("-wal", "-shm"):
            # They belong to the old file.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path + suffix)
        os.replace(temporary, self.path)
        self._writer_connection = open_connection(self.path)
        self._writer_connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        self._guard = FileGuard(self.path)
        self._guard.remember()

    async def _run_in_thread(self, thread: WorkerThread, work: Callable[[], T]) -> T:
        try:
            future = thread.submit(lambda: self._translate_errors(work))
        except RuntimeError as error:
            # The thread is closed: a task outlived the store while the daemon was stopping.
            raise _build_closed_error() from error
        return await future

    def _translate_errors(self, work: Callable[[], T]) -> T:
        with translate_errors(self.path):
            return work()

    def _open_connections(self, migrations: str) -> None:
        is_new = _check_file(self.path, database_file.find_latest_version(migrations))
        # Open the writer first: it creates and migrates the schema that the reader expects.
        self._writer_connection = open_connection(self.path, is_new)
        database_file.apply_migrations(self._writer_connection, migrations)
        _enable_incremental_vacuum(self._writer_connection)
        self._writer_connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        self._reader_connection = _open_reader(self.path)
        self._guard.remember()

    def _run_transaction(self, fn: Callable[[Connection], T]) -> T:
        connection = _require_open(self._writer_connection)
        try:
            with _open_transaction(connection, "BEGIN IMMEDIATE"):
                result = fn(connection)
        except apsw.Error as error:
            # Other errors, such as a violated constraint, say nothing about the disk.
            self._is_writable = not isinstance(error, (apsw.FullError, apsw.ReadOnlyError, apsw.IOError))
            raise
        self._is_writable = True
        return result

    def _run_durably(self, fn: Callable[[Connection], T], on_stored: Callable[[], object] | None) -> T:
        connection = _require_open(self._writer_connection)
        # NORMAL syncs a write-ahead log only at checkpoints: the last commits may be lost in a power failure.
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
        # Close threads before connections, which queued calls may still use.
        self._reader_thread.close()
        self._writer_thread.close()
        for connection in (self._reader_connection, self._writer_connection):
            if connection is not None:
                connection.close()
        self._reader_connection = self._writer_connection = None


@functools.cache
def get_tokenizer() -> Callable[[str], list[TokenSpan]]:
    """Return a function that splits text exactly as the search index does (FTS5 unicode61 on rewritten text)."""
    tokenizer = Connection(":memory:").fts5_tokenizer("unicode61", [])

    def split_bytes(data: bytes) -> list[TokenSpan]:
        return cast("list[TokenSpan]", tokenizer(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False))

    def split_tokens(text: str) -> list[TokenSpan]:
        if text.isascii() or not is_rewritten(text):
            return split_bytes(text.encode("utf-8", "replace"))
        origin = OffsetMap(text)
        return [(*origin.find_original_span(start, end), token) for start, end, token in split_bytes(origin.data)]

    return split_tokens


def _check_file(path: str, known_version: int) -> bool:
    """Reject a file of another program or newer version; create a private file if there is none and return True."""
    header = database_file.read_database_header(path)
    if header is None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    elif not header.is_termvisor:
        kind = "belongs to another program" if header.is_database else "is not a database"
        raise StorageError(f"{path} {kind}", hint="The file was not changed. Move it away to start with a new one.")
    elif header.version > known_version:
        raise NewerDatabase(f"{path} has schema {header.version}; this version supports up to {known_version}")
    # A restored or copied file may be readable by others, but it contains everything that terminals showed.
    if os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o600)
    return header is None


def _open_reader(path: str) -> Connection:
    connection = open_connection(path)
    connection.execute("PRAGMA query_only = ON; PRAGMA cache_size = -2048")
    return connection


def open_connection(path: str, is_new: bool = False) -> Connection:
    connection = Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # Closing must not checkpoint into a damaged file; `_open_connections` lifts this after all checks have passed.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        register_functions(connection)
        if is_new:
            connection.pragma("page_size", PAGE_SIZE)
            connection.pragma("auto_vacuum", AUTO_VACUUM_INCREMENTAL)
            connection.pragma("application_id", database_file.APPLICATION_ID)
        # SQLite first reads the file here, so a damaged file fails before the first write.
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.pragma("journal_mode", "wal")
        connection.execute(";".join(_CONNECTION_PRAGMAS)).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def register_functions(connection: Connection) -> None:
    """Define the SQL function by which the views of indexed text rewrite it."""
    connection.create_scalar_function(
        "rewrite_for_index",
        lambda *texts: rewrite_for_index(str(texts[0])),
        1,
        deterministic=True,
        # A view may call it even if the schema is not trusted: it only computes.
        flags=apsw.SQLITE_INNOCUOUS,
    )


def _enable_incremental_vacuum(connection: Connection) -> None:
    """Convert a small file from an older version with VACUUM; a large one keeps reusing its free pages."""
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
        # SQLite has already rolled back after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run_with_connection(path: str, fn: Callable[[Connection], T]) -> T:
    with contextlib.closing(open_connection(path)) as connection:
        return fn(connection)


def _run_checkpoint(connection: Connection) -> int:
    # PASSIVE does not wait for readers: pages that they still need are moved next time.
    total, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    return max(0, total - moved)


def _require_open(connection: Connection | None) -> Connection:
    if connection is None:
        raise _build_closed_error()
    return connection


def _build_closed_error() -> DatabaseClosed:
    return DatabaseClosed("the database is closed", hint="Restart the daemon.")


def _get_file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
