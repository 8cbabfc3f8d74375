"""Delete old rows, release free pages, merge indexes, write backups, check integrity, and record each run.

Invariant: no step holds the writer for longer than one time slice, so that other writes can run in between. The only
exception is rebuilding an index, which is needed only after damage.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import astuple

from termvisor.clock import Clock
from termvisor.model.confirmed_time import ConfirmedTime
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.maintenance import DatabaseContents, MaintenanceRun
from termvisor.store.maintenance.backup import replace_copy, write_copy
from termvisor.store.maintenance.integrity_check import check_integrity
from termvisor.store.maintenance.retention import (
    HISTORY_TABLES,
    DeletionProgress,
    RetainedTable,
    count_old_rows,
    delete_empty_panes,
    delete_old_rows,
)
from termvisor.store.sqlite.database import AUTO_VACUUM_INCREMENTAL, Connection, Database
from termvisor.store.sqlite.storage_errors import translate_errors
from termvisor.store.sqlite.table import RowSelector, reserve_row_ids
from termvisor.store.tables.indexed_table import INDEXED_TABLES, IndexedTable

T = TypeVar("T")

SLICE_DURATION_S = 0.005
"""Seconds for which one slice may hold the writer; a step that has begun is still completed."""
_PAGES_PER_STEP = 16
_MAX_PAGES_PER_SLICE = 128
# Rows to examine between two checks of whether the slice is over; most of them need no change.
_ROWS_PER_STEP = 16
_CONFIRMED_TIMES = RowSelector(ConfirmedTime, "confirmed_time", decoders={"has_jumped": bool})
_RUNS = RowSelector(MaintenanceRun, "maintenance", omit=("is_done",))


class StoreMaintenance:
    def __init__(self, db: Database, clock: Clock):
        self._db, self._clock = db, clock

    async def delete_older_rows(
        self, before: int, tables: Sequence[RetainedTable] = HISTORY_TABLES
    ) -> AsyncIterator[tuple[str, int]]:
        """Delete rows that ended before this time; yield the table and the number of deleted rows after each slice."""
        for retained in tables:
            progress = DeletionProgress(retained, before)
            while not progress.is_done:
                deleted = progress.deleted
                progress = await self._db.write(partial(self._delete_slice, progress))
                yield retained.table, progress.deleted - deleted

    async def count_older_rows(self, before: int, tables: Sequence[RetainedTable] = HISTORY_TABLES) -> dict[str, int]:
        """Return how many rows of each table `delete_older_rows` would delete."""
        return await self._db.run_on_own_connection(
            lambda connection: {retained.table: count_old_rows(connection, retained, before) for retained in tables}
        )

    async def delete_empty_panes(self, before: int, on_disk: set[PaneId]) -> list[PaneId]:
        """Delete panes gone before this time that have no data left, and servers without panes."""
        return await self._db.write(lambda connection: delete_empty_panes(connection, before, on_disk))

    async def reserve_ids(self, pane: PaneId, epoch: EpochId) -> None:
        """Ensure that new panes and epochs get higher ids than these, which raw log files on disk already use."""
        await self._db.write(lambda connection: reserve_row_ids(connection, {"pane": pane, "epoch": epoch}))

    async def find_oldest_text_time(self) -> int | None:
        query = "SELECT at FROM block ORDER BY id LIMIT 1"
        return await self._db.read(lambda connection: connection.execute(query).get)

    async def find_newest_time(self) -> int | None:
        """Return the time of the newest text or event; None in an empty database."""
        queries = ("SELECT until FROM block ORDER BY id DESC LIMIT 1", "SELECT at FROM event ORDER BY id DESC LIMIT 1")
        times = await self._db.read(lambda connection: [connection.execute(query).get for query in queries])
        return max((time for time in times if time is not None), default=None)

    async def read_confirmed_time(self) -> ConfirmedTime | None:
        return await self._db.read(lambda connection: _CONFIRMED_TIMES.find(connection, "WHERE id = 1"))

    async def save_confirmed_time(self, time: ConfirmedTime) -> None:
        row = (1, *astuple(time))
        query = "INSERT OR REPLACE INTO confirmed_time VALUES (?, ?, ?, ?, ?, ?, ?)"
        await self._db.write(lambda connection: connection.execute(query, row).fetchall())

    async def read_epoch_progress(self) -> Mapping[EpochId, tuple[int, bool]]:
        """Return, for each epoch, the number of bytes committed as text and whether the epoch is closed."""
        return await self._db.read(_read_epoch_progress)

    async def release_free_pages(self) -> AsyncIterator[tuple[int, int]]:
        """Return free pages to the file system; after each slice, yield the number of pages released and remaining."""
        released, left = 0, await self._db.read(_count_releasable_pages)
        while left:
            freed, left = await self._db.write(self._release_pages)
            released += freed
            yield released, left
            if not freed:
                return

    async def merge_indexes(self) -> AsyncIterator[tuple[str, int]]:
        """Merge the segments of each search index in slices; yield the table and the number of slices so far."""
        for table in INDEXED_TABLES.values():
            step, steps, has_more = -_PAGES_PER_STEP, 0, True
            while has_more:
                has_more = await self._db.write(partial(self._merge_segments, table, step))
                step, steps = _PAGES_PER_STEP, steps + 1
                yield table.name, steps

    async def upgrade_indexes(self) -> AsyncIterator[int]:
        """Index rows again that an older version indexed in another form; yield how many, after each slice."""
        for table in INDEXED_TABLES.values():
            has_more = True
            while has_more:
                changed, has_more = await self._db.write(partial(self._upgrade_texts, table))
                yield changed

    async def rebuild_indexes(self) -> AsyncIterator[str]:
        """Rebuild the search indexes from the text; yield the table after each one."""
        for table in INDEXED_TABLES.values():
            await self._db.write(table.rebuild)
            yield table.name

    async def write_backup(self, path: str) -> tuple[int, DatabaseContents]:
        """Write a copy to a new file; return its size and a summary. Raises StateConflict if the file exists."""
        return await self._db.run_on_own_connection(lambda connection: _write_translated(path, write_copy, connection))

    async def write_snapshot(self, path: str) -> int:
        """Replace the previous snapshot with a new copy; return its size."""
        return await self._db.run_on_own_connection(
            lambda connection: _write_translated(path, replace_copy, connection)
        )

    async def check_integrity(self, *, thorough: bool = False) -> str:
        """Return ``ok`` or the damage found."""
        copy = f"{self._db.path}.examined"
        return await self._db.run_on_own_connection(
            lambda connection: check_integrity(connection, thorough=thorough, copy_path=copy)
        )

    async def count_used_bytes(self) -> int:
        """Return the total size of all used pages in bytes, without the free pages inside the file."""
        return await self._db.read(_count_used_bytes)

    async def record_run(self, run: MaintenanceRun) -> None:
        row = (run.operation, run.started_at, run.duration, run.rows, run.bytes, run.detail)
        query = (
            'INSERT INTO maintenance (operation, started_at, duration, "rows", bytes, detail) VALUES (?, ?, ?, ?, ?, ?)'
        )
        await self._db.write(lambda connection: connection.execute(query, row).fetchall())

    async def list_runs(self, limit: int = 5) -> list[MaintenanceRun]:
        """Return the newest runs, newest first."""
        return await self._db.read(lambda connection: _RUNS.list(connection, "ORDER BY id DESC LIMIT ?", (limit,)))

    def _start_slice(self) -> Callable[[], bool]:
        """Start a slice; return a function that returns True once the slice is over."""
        until = self._clock.monotonic() + SLICE_DURATION_S
        return lambda: self._clock.monotonic() > until

    def _delete_slice(self, progress: DeletionProgress, connection: Connection) -> DeletionProgress:
        return delete_old_rows(connection, progress, self._start_slice())

    def _release_pages(self, connection: Connection) -> tuple[int, int]:
        """Release pages for one slice; return how many were released and how many are left."""
        # Pages are moved now but written at COMMIT, which the slice does not measure, so their number is limited too.
        before = left = _count_releasable_pages(connection)
        is_over = self._start_slice()
        while left and before - left < _MAX_PAGES_PER_SLICE and not is_over():
            connection.execute(f"PRAGMA incremental_vacuum({_PAGES_PER_STEP})").fetchall()
            left = _count_releasable_pages(connection)
        return before - left, left

    def _upgrade_texts(self, table: IndexedTable, connection: Connection) -> tuple[int, bool]:
        """Index old rows again for one slice; return how many changed and whether there are more."""
        is_over, total = self._start_slice(), 0
        while not is_over():
            changed = table.upgrade_texts(connection, _ROWS_PER_STEP)
            if changed is None:
                return total, False
            total += changed
        return total, True

    def _merge_segments(self, table: IndexedTable, pages: int, connection: Connection) -> bool:
        """Merge index segments for one slice; return True if there is more to merge."""
        is_over, has_more = self._start_slice(), True
        while has_more and not is_over():
            has_more, pages = table.merge_segments(connection, pages), _PAGES_PER_STEP
        return has_more


def _write_translated(path: str, write: Callable[[Connection, str], T], connection: Connection) -> T:
    """Write a copy; errors name the path of the copy instead of the database."""
    with translate_errors(path):
        return write(connection, path)


def _read_epoch_progress(connection: Connection) -> dict[EpochId, tuple[int, bool]]:
    rows = connection.execute("SELECT id, committed, closed_at IS NOT NULL FROM epoch")
    return {epoch: (committed, bool(is_closed)) for epoch, committed, is_closed in rows}


def _count_releasable_pages(connection: Connection) -> int:
    """Return the number of free pages, or 0 for a large file from an older version, which cannot release them."""
    free: int = connection.pragma("freelist_count")
    return free if connection.pragma("auto_vacuum") == AUTO_VACUUM_INCREMENTAL else 0


def _count_used_bytes(connection: Connection) -> int:
    pages: int = connection.pragma("page_count") - connection.pragma("freelist_count")
    size: int = connection.pragma("page_size")
    return pages * size
