"""Every table that grows with time, one line each, and how its old rows are found and deleted.

``HISTORY`` is what was seen, ``DEEDS`` is what was asked for and done, ``SIGNALS`` is what agents said. The audit is in
none of them: it is never deleted.

Ids rise with time but for a little disorder, so old rows are met from the lowest id on, and no index on the time is
needed. Invariant: a row leaves together with its words in the index; what is left can be found and read as before.
"""

from collections.abc import Callable
from typing import cast

from msgspec import Struct

from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.pipeline_commit import TIME_BUCKET_BITS

_ROWS_PER_BATCH = 8


class RetainedTable(Struct, frozen=True):
    """A row is old when ``ended`` is before the limit; from the first row whose ``began`` is not, nothing is old.

    A table with ``words`` has an index of these columns, ``<table>_fts``, and times by the shelf, ``<table>_time``.
    """

    table: str
    start_column: str
    end_expression: str
    indexed_columns: tuple[str, ...] = ()
    id_column: str = "id"


_COMMAND_ENDED = "CASE status WHEN 'running' THEN NULL ELSE coalesce(ended_at, started_at) END"
_SEND_ENDED = "CASE WHEN outcome IS NOT NULL THEN step_at END"
_FACT_ENDED = "CASE WHEN id <= (SELECT fact FROM knowledge) THEN at END"

HISTORY_TABLES = (
    RetainedTable("block", "at", "until", ("text", "pane")),
    RetainedTable("mark", "at", "at"),
    RetainedTable("command", "started_at", _COMMAND_ENDED),
    RetainedTable("screen", "at", "at"),
    RetainedTable("sighting", "first_at", "last_at", ("text", "pane")),
    RetainedTable("utterance", "at", "at", ("text", "pane")),
    RetainedTable("first_screen", "at", "at", id_column="epoch"),
    RetainedTable("gap", "start_at", "end_at"),
    RetainedTable("detection", "at", "last_at", id_column="event"),
    RetainedTable("event", "at", "at"),
    RetainedTable("runtime", "began_at", "ended_at"),
    RetainedTable("agent_session", "started_at", "ended_at"),
    RetainedTable("maintenance", "started_at", "started_at"),
)
"""Screens go before the sightings that they name."""

ACTION_TABLES = (
    RetainedTable("send", "begun_at", _SEND_ENDED),
    RetainedTable("question", "at", "expires_at"),
    RetainedTable("permit", "at", "coalesce(revoked_at, expires_at)"),
    RetainedTable("reservation", "at", "coalesce(released_at, expires_at)"),
    RetainedTable("run", "at", "ended_at"),
    RetainedTable("mute", "at", "until"),
)
"""What still holds has not ended. They are small: what is too large for the disk is never they."""

SIGNAL_TABLES = (RetainedTable("fact", "at", _FACT_ENDED),)
"""What agents' states were made of; what they are made of now is never old."""

INDEXED_TABLES = tuple(aged.table for aged in HISTORY_TABLES if aged.indexed_columns)


class DeletionProgress(Struct):
    """How far the deletion of one table's old rows has come."""

    retained: RetainedTable
    before: int
    """Rows that ended before this instant are old."""
    last_checked_id: int = 0
    """Rows up to this id were looked at."""
    deleted: int = 0
    is_done: bool = False


def delete_old_rows(
    connection: Connection, progress: DeletionProgress, is_slice_over: Callable[[], bool]
) -> DeletionProgress:
    """Go on deleting until the turn is over or no old row is left."""
    while not progress.is_done and not is_slice_over():
        _delete_batch(connection, progress)
    if progress.retained.indexed_columns:
        _delete_time_buckets(connection, progress.retained.table)
    return progress


def count_old_rows(connection: Connection, retained: RetainedTable, before: int) -> int:
    """How many rows a sweep would delete."""
    stop = f"SELECT min({retained.id_column}) FROM {retained.table} WHERE {retained.start_column} >= ?1"
    found: int = connection.execute(
        f"SELECT count(*) FROM {retained.table} WHERE {retained.end_expression} < ?1 AND {retained.id_column} < coalesce(({stop}), 1 << 62)",
        (before,),
    ).get
    return found


def _delete_batch(connection: Connection, progress: DeletionProgress) -> None:
    aged = progress.retained
    rows = connection.execute(
        f"SELECT {aged.id_column}, {aged.start_column} < ?1, coalesce({aged.end_expression} < ?1, 0) FROM {aged.table}"
        f" WHERE {aged.id_column} > ?2 ORDER BY {aged.id_column} LIMIT ?3",
        (progress.before, progress.last_checked_id, _ROWS_PER_BATCH),
    ).fetchall()
    for number, has_begun, is_old in cast("list[tuple[int, int, int]]", rows):
        if not has_begun:
            progress.is_done = True
            return
        if is_old:
            _delete_row(connection, aged, number)
            progress.deleted += 1
        progress.last_checked_id = number
    progress.is_done = len(rows) < _ROWS_PER_BATCH


def _delete_row(connection: Connection, retained: RetainedTable, row_id: int) -> None:
    if retained.indexed_columns:
        # The index must be told the words while they are still there; it keeps none of its own.
        words = ", ".join(retained.indexed_columns)
        connection.execute(
            f"INSERT INTO {retained.table}_fts ({retained.table}_fts, rowid, {words})"
            f" SELECT 'delete', id, {words} FROM {retained.table} WHERE id = ?",
            (row_id,),
        )
    connection.execute(f"DELETE FROM {retained.table} WHERE {retained.id_column} = ?", (row_id,))


def _delete_time_buckets(connection: Connection, table: str) -> None:
    connection.execute(
        f"DELETE FROM {table}_time WHERE shelf < (SELECT coalesce(min(id) >> {TIME_BUCKET_BITS}, 1 << 62) FROM {table})"
    )
