"""Find and delete old rows of every table that grows with time, and panes that have no data left.

``HISTORY_TABLES`` hold captured data, ``ACTION_TABLES`` requested and executed actions, ``SIGNAL_TABLES`` evidence
about agents. The audit log is in none of these groups and is never deleted.

Ids are almost in order of time, so old rows are found by scanning up from the lowest id, without an index on the time.
Invariant: a row is deleted together with its entries in the search index. Ids of deleted panes are not reused.
"""

from collections.abc import Callable
from typing import cast

import apsw
from msgspec import Struct

from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.indexed_table import INDEXED_TABLES

# Rows to process between two checks of whether the slice is over.
_ROWS_PER_BATCH = 8
_COMMAND_ENDED = "CASE status WHEN 'running' THEN NULL ELSE coalesce(ended_at, started_at) END"
_SEND_ENDED = "CASE WHEN outcome IS NOT NULL THEN step_at END"
_FACT_ENDED = "CASE WHEN id <= (SELECT fact FROM knowledge) THEN at END"
_MAX_PANES_PER_CALL = 50
_SELECT_EMPTY_PANES = """
SELECT id FROM pane WHERE gone_at < ?
   AND NOT EXISTS (SELECT 1 FROM block WHERE block.pane = pane.id)
   AND NOT EXISTS (SELECT 1 FROM mark WHERE mark.pane = pane.id)
   AND NOT EXISTS (SELECT 1 FROM epoch WHERE epoch.pane = pane.id AND (closed_at IS NULL OR committed < size))
 ORDER BY id LIMIT ?
"""


class RetainedTable(Struct, frozen=True):
    """A table with expiring rows, and how their age is computed.

    A row is old if its ``end_expression`` is before the limit. The scan stops at the first row whose ``start_column``
    is not before the limit.
    """

    table: str
    start_column: str
    end_expression: str
    id_column: str = "id"


HISTORY_TABLES = (
    RetainedTable("block", "at", "until"),
    RetainedTable("mark", "at", "at"),
    RetainedTable("command", "started_at", _COMMAND_ENDED),
    RetainedTable("screen", "at", "at"),
    RetainedTable("sighting", "first_at", "last_at"),
    RetainedTable("utterance", "at", "at"),
    RetainedTable("first_screen", "at", "at", id_column="epoch"),
    RetainedTable("gap", "start_at", "end_at"),
    RetainedTable("detection", "at", "last_at", id_column="event"),
    RetainedTable("event", "at", "at"),
    RetainedTable("runtime", "began_at", "ended_at"),
    RetainedTable("agent_session", "started_at", "ended_at"),
    RetainedTable("maintenance", "started_at", "started_at"),
)
"""Screens come before the sightings that they refer to."""

ACTION_TABLES = (
    RetainedTable("send", "begun_at", _SEND_ENDED),
    RetainedTable("question", "at", "expires_at"),
    RetainedTable("permit", "at", "coalesce(revoked_at, expires_at)"),
    RetainedTable("reservation", "at", "coalesce(released_at, expires_at)"),
    RetainedTable("run", "at", "ended_at"),
    RetainedTable("mute", "at", "until"),
)
"""Requests, permits and reservations that are still in force have not ended and are kept."""

SIGNAL_TABLES = (RetainedTable("fact", "at", _FACT_ENDED),)
"""Facts after the stored checkpoint are needed to rebuild the current states, so they are never old."""


class DeletionProgress(Struct):
    """Progress of deleting the old rows of one table."""

    retained: RetainedTable
    before: int
    """Rows that ended before this time are old."""
    last_checked_id: int = 0
    """Rows up to this id have been checked."""
    deleted: int = 0
    is_done: bool = False


def delete_old_rows(
    connection: Connection, progress: DeletionProgress, is_slice_over: Callable[[], bool]
) -> DeletionProgress:
    """Delete old rows until the slice is over or none are left."""
    while not progress.is_done and not is_slice_over():
        _delete_batch(connection, progress)
    if indexed := INDEXED_TABLES.get(progress.retained.table):
        indexed.delete_empty_buckets(connection)
    return progress


def count_old_rows(connection: Connection, retained: RetainedTable, before: int) -> int:
    """Return how many rows would be deleted."""
    stop = f"SELECT min({retained.id_column}) FROM {retained.table} WHERE {retained.start_column} >= ?1"
    count: int = connection.execute(
        f"SELECT count(*) FROM {retained.table} WHERE {retained.end_expression} < ?1"
        f" AND {retained.id_column} < coalesce(({stop}), 1 << 62)",
        (before,),
    ).get
    return count


def _delete_batch(connection: Connection, progress: DeletionProgress) -> None:
    retained = progress.retained
    row_id, start, end = retained.id_column, retained.start_column, retained.end_expression
    rows = connection.execute(
        f"SELECT {row_id}, {start} < ?1, coalesce({end} < ?1, 0) FROM {retained.table}"
        f" WHERE {row_id} > ?2 ORDER BY {row_id} LIMIT ?3",
        (progress.before, progress.last_checked_id, _ROWS_PER_BATCH),
    ).fetchall()
    for number, started_before, is_old in cast("list[tuple[int, int, int]]", rows):
        if not started_before:
            progress.is_done = True
            return
        if is_old:
            _delete_row(connection, retained, number)
            progress.deleted += 1
        progress.last_checked_id = number
    progress.is_done = len(rows) < _ROWS_PER_BATCH


def _delete_row(connection: Connection, retained: RetainedTable, row_id: int) -> None:
    if indexed := INDEXED_TABLES.get(retained.table):
        indexed.delete_text(connection, row_id)
    connection.execute(f"DELETE FROM {retained.table} WHERE {retained.id_column} = ?", (row_id,))


def delete_empty_panes(connection: Connection, before: int, on_disk: set[PaneId]) -> list[PaneId]:
    """Delete panes gone before this time, their epochs, and servers without panes; return the deleted panes.

    Panes in ``on_disk`` still have raw log files and are kept.
    """
    rows = connection.execute(_SELECT_EMPTY_PANES, (before, _MAX_PANES_PER_CALL + len(on_disk))).fetchall()
    empty = [pane for (pane,) in cast("list[tuple[PaneId]]", rows) if pane not in on_disk][:_MAX_PANES_PER_CALL]
    deleted = [pane for pane in empty if _delete_pane(connection, pane)]
    if deleted:
        connection.execute("DELETE FROM server WHERE id NOT IN (SELECT server FROM pane)")
    return deleted


def _delete_pane(connection: Connection, pane: PaneId) -> bool:
    try:
        with connection:
            connection.execute("DELETE FROM epoch WHERE pane = ?", (pane,))
            connection.execute("DELETE FROM pane WHERE id = ?", (pane,))
    except apsw.ConstraintError:
        # Another row still refers to the pane; the next call tries again.
        return False
    return True
