"""What keeps the database well: old rows out, room given back, copies, checks, and a note of each run.

Invariant: no step holds the writer longer than a slice; between two slices whoever waits has its turn. Only making an
index anew holds it for as long as that takes: it is there for the day on which an index is broken.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from termvisor.clock import Clock
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.maintenance import DatabaseContents, MaintenanceRun
from termvisor.store.maintenance.backup import replace_copy, write_copy
from termvisor.store.maintenance.empty_panes import delete_empty_panes, reserve_row_ids
from termvisor.store.maintenance.integrity_check import check_integrity
from termvisor.store.maintenance.retention import (
    HISTORY_TABLES,
    INDEXED_TABLES,
    DeletionProgress,
    RetainedTable,
    count_old_rows,
    delete_old_rows,
)
from termvisor.store.sqlite.database import AUTO_VACUUM_INCREMENTAL, Connection, Database
from termvisor.store.sqlite.error_messages import translate_errors

T = TypeVar("T")

SLICE_DURATION_S = 0.005
"""Seconds of the writer's time that one slice takes; its last step may come on top."""
_PAGES_PER_STEP = 16
_MAX_PAGES_PER_SLICE = 128
_RUN_COLUMNS = 'operation, started_at, duration, "rows", bytes, detail'


class StoreMaintenance:
    def __init__(self, db: Database, clock: Clock):
        self._db, self._clock = db, clock

    async def delete_older_rows(
        self, before: int, tables: Sequence[RetainedTable] = HISTORY_TABLES
    ) -> AsyncIterator[tuple[str, int]]:
        """Delete what ended before this instant; after each slice the table and how many of its rows went in it."""
        for aged in tables:
            state = DeletionProgress(aged, before)
            while not state.is_done:
                gone = state.deleted
                state = await self._db.write(self._build_delete_slice(state))
                yield aged.table, state.deleted - gone

    async def count_older_rows(self, before: int, tables: Sequence[RetainedTable] = HISTORY_TABLES) -> dict[str, int]:
        """How many rows of each table would go."""
        return await self._db.run_on_own_connection(
            lambda connection: {aged.table: count_old_rows(connection, aged, before) for aged in tables}
        )

    async def delete_empty_panes(self, before: int, on_disk: set[PaneId]) -> list[PaneId]:
        """Panes that are gone for so long and of which nothing is left, and servers without panes."""
        return await self._db.write(lambda connection: delete_empty_panes(connection, before, on_disk))

    async def reserve_ids(self, pane: PaneId, epoch: EpochId) -> None:
        """Never give these ids or smaller ones to new panes and epochs: there are files that carry them."""
        await self._db.write(lambda connection: reserve_row_ids(connection, {"pane": pane, "epoch": epoch}))

    async def find_oldest_text_time(self) -> int | None:
        query = "SELECT at FROM block ORDER BY id LIMIT 1"
        return await self._db.read(lambda connection: connection.execute(query).get)

    async def read_epoch_progress(self) -> Mapping[EpochId, tuple[int, bool]]:
        """How far each epoch's text is stored, and whether it is closed."""
        return await self._db.read(_read_epoch_progress)

    async def release_free_pages(self) -> AsyncIterator[tuple[int, int]]:
        """Give free pages back to the disk; after each slice how many went, and how many are left."""
        done, left = 0, await self._db.read(_count_releasable_pages)
        while left:
            freed, left = await self._db.write(self._release_pages)
            done += freed
            yield done, left
            if not freed:
                return

    async def merge_indexes(self) -> AsyncIterator[tuple[str, int]]:
        """Make each index smaller by one long merge in small steps; after each slice the index and its steps."""
        for table in INDEXED_TABLES:
            step, steps, goes_on = -_PAGES_PER_STEP, 0, True
            while goes_on:
                goes_on = await self._db.write(self._build_merge_slice(table, step))
                step, steps = _PAGES_PER_STEP, steps + 1
                yield table, steps

    async def rebuild_indexes(self) -> AsyncIterator[str]:
        """Make each index anew from the text, all of one at a time; after each the table that it is of."""
        for table in INDEXED_TABLES:
            await self._db.write(partial(_rebuild_index, table))
            yield table

    async def write_backup(self, path: str) -> tuple[int, DatabaseContents]:
        """A copy in a new file; its size and what it holds. ``Conflict`` when the file exists."""
        return await self._db.run_on_own_connection(lambda connection: _write_translated(path, write_copy, connection))

    async def write_snapshot(self, path: str) -> int:
        """A copy in the place of the one before; its size."""
        return await self._db.run_on_own_connection(
            lambda connection: _write_translated(path, replace_copy, connection)
        )

    async def check_integrity(self, *, thorough: bool = False) -> str:
        """``ok``, or what is wrong with the file."""
        copy = f"{self._db.path}.examined"
        return await self._db.run_on_own_connection(
            lambda connection: check_integrity(connection, thorough=thorough, copy_path=copy)
        )

    async def count_used_bytes(self) -> int:
        """Bytes that rows take, without the room that is free inside the file."""
        return await self._db.read(_count_used_bytes)

    async def record_run(self, run: MaintenanceRun) -> None:
        row = (run.operation, run.started_at, run.duration, run.rows, run.bytes, run.detail)
        query = (
            'INSERT INTO maintenance (operation, started_at, duration, "rows", bytes, detail) VALUES (?, ?, ?, ?, ?, ?)'
        )
        await self._db.write(lambda connection: connection.execute(query, row).fetchall())

    async def list_runs(self, limit: int = 5) -> list[MaintenanceRun]:
        """The newest runs, newest first."""
        return await self._db.read(lambda connection: _list_runs(connection, limit))

    def _start_slice(self) -> Callable[[], bool]:
        until = self._clock.monotonic() + SLICE_DURATION_S
        return lambda: self._clock.monotonic() > until

    def _build_delete_slice(self, state: DeletionProgress) -> Callable[[Connection], DeletionProgress]:
        return lambda connection: delete_old_rows(connection, state, self._start_slice())

    def _release_pages(self, connection: Connection) -> tuple[int, int]:
        """How many pages went, and how many are left. They are moved now and written at the end, so few at a time."""
        before = left = _count_releasable_pages(connection)
        is_over = self._start_slice()
        while left and before - left < _MAX_PAGES_PER_SLICE and not is_over():
            connection.execute(f"PRAGMA incremental_vacuum({_PAGES_PER_STEP})").fetchall()
            left = _count_releasable_pages(connection)
        return before - left, left

    def _build_merge_slice(self, table: str, step: int) -> Callable[[Connection], bool]:
        """Whether there is more to merge. A negative step begins a merge of all there is."""

        def merge(connection: Connection) -> bool:
            is_over, size, goes_on = self._start_slice(), step, True
            while goes_on and not is_over():
                before = connection.total_changes()
                connection.execute(f"INSERT INTO {table}_fts ({table}_fts, rank) VALUES ('merge', ?)", (size,))
                goes_on, size = connection.total_changes() - before > 1, _PAGES_PER_STEP
            return goes_on

        return merge


def _write_translated(path: str, write: Callable[[Connection, str], T], connection: Connection) -> T:
    """What goes wrong is told of the copy, not of the database."""
    with translate_errors(path):
        return write(connection, path)


def _rebuild_index(table: str, connection: Connection) -> None:
    connection.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('rebuild')").fetchall()


def _read_epoch_progress(connection: Connection) -> dict[EpochId, tuple[int, bool]]:
    rows = connection.execute("SELECT id, committed, closed_at IS NOT NULL FROM epoch")
    return {epoch: (committed, bool(is_closed)) for epoch, committed, is_closed in cast("Iterator[Any]", rows)}


def _count_releasable_pages(connection: Connection) -> int:
    """Free pages, if this file can give them back: one from before that was so only uses them again."""
    found: int = connection.pragma("freelist_count")
    return found if connection.pragma("auto_vacuum") == AUTO_VACUUM_INCREMENTAL else 0


def _count_used_bytes(connection: Connection) -> int:
    pages: int = connection.pragma("page_count") - connection.pragma("freelist_count")
    size: int = connection.pragma("page_size")
    return pages * size


def _list_runs(connection: Connection, limit: int) -> list[MaintenanceRun]:
    rows = connection.execute(
        'SELECT operation, started_at, duration, "rows", bytes, detail FROM maintenance ORDER BY id DESC LIMIT ?',
        (limit,),
    )
    return [
        MaintenanceRun(operation=name, started_at=at, duration=took, rows=count, bytes=size, detail=detail)
        for name, at, took, count, size, detail in cast("Iterator[Any]", rows)
    ]
