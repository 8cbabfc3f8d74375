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
from termvisor.store.tables.pipeline_commit import SHELF

_BATCH = 8


class Aged(Struct, frozen=True):
    """A row is old when ``ended`` is before the limit; from the first row whose ``began`` is not, nothing is old.

    A table with ``words`` has an index of these columns, ``<table>_fts``, and times by the shelf, ``<table>_time``.
    """

    table: str
    began: str
    ended: str
    words: tuple[str, ...] = ()
    key: str = "id"


_COMMAND_ENDED = "CASE status WHEN 'running' THEN NULL ELSE coalesce(ended_at, started_at) END"
_SEND_ENDED = "CASE WHEN outcome IS NOT NULL THEN step_at END"
_FACT_ENDED = "CASE WHEN id <= (SELECT fact FROM knowledge) THEN at END"

HISTORY = (
    Aged("block", "at", "until", ("text", "pane")),
    Aged("mark", "at", "at"),
    Aged("command", "started_at", _COMMAND_ENDED),
    Aged("screen", "at", "at"),
    Aged("sighting", "first_at", "last_at", ("text", "pane")),
    Aged("utterance", "at", "at", ("text", "pane")),
    Aged("first_screen", "at", "at", key="epoch"),
    Aged("gap", "start_at", "end_at"),
    Aged("detection", "at", "last_at", key="event"),
    Aged("event", "at", "at"),
    Aged("runtime", "began_at", "ended_at"),
    Aged("agent_session", "started_at", "ended_at"),
    Aged("maintenance", "started_at", "started_at"),
)
"""Screens go before the sightings that they name."""

DEEDS = (
    Aged("send", "begun_at", _SEND_ENDED),
    Aged("question", "at", "expires_at"),
    Aged("permit", "at", "coalesce(revoked_at, expires_at)"),
    Aged("reservation", "at", "coalesce(released_at, expires_at)"),
    Aged("run", "at", "ended_at"),
    Aged("mute", "at", "until"),
)
"""What still holds has not ended. They are small: what is too large for the disk is never they."""

SIGNALS = (Aged("fact", "at", _FACT_ENDED),)
"""What agents' states were made of; what they are made of now is never old."""

INDEXED = tuple(aged.table for aged in HISTORY if aged.words)


class Sweep(Struct):
    """How far the deletion of one table's old rows has come."""

    aged: Aged
    before: int
    """Rows that ended before this instant are old."""
    passed: int = 0
    """Rows up to this id were looked at."""
    deleted: int = 0
    is_done: bool = False


def sweep(connection: Connection, state: Sweep, is_over: Callable[[], bool]) -> Sweep:
    """Go on deleting until the turn is over or no old row is left."""
    while not state.is_done and not is_over():
        _batch(connection, state)
    if state.aged.words:
        _forget_times(connection, state.aged.table)
    return state


def count(connection: Connection, aged: Aged, before: int) -> int:
    """How many rows a sweep would delete."""
    stop = f"SELECT min({aged.key}) FROM {aged.table} WHERE {aged.began} >= ?1"
    found: int = connection.execute(
        f"SELECT count(*) FROM {aged.table} WHERE {aged.ended} < ?1 AND {aged.key} < coalesce(({stop}), 1 << 62)",
        (before,),
    ).get
    return found


def _batch(connection: Connection, state: Sweep) -> None:
    aged = state.aged
    rows = connection.execute(
        f"SELECT {aged.key}, {aged.began} < ?1, coalesce({aged.ended} < ?1, 0) FROM {aged.table}"
        f" WHERE {aged.key} > ?2 ORDER BY {aged.key} LIMIT ?3",
        (state.before, state.passed, _BATCH),
    ).fetchall()
    for number, has_begun, is_old in cast("list[tuple[int, int, int]]", rows):
        if not has_begun:
            state.is_done = True
            return
        if is_old:
            _delete(connection, aged, number)
            state.deleted += 1
        state.passed = number
    state.is_done = len(rows) < _BATCH


def _delete(connection: Connection, aged: Aged, number: int) -> None:
    if aged.words:
        # The index must be told the words while they are still there; it keeps none of its own.
        words = ", ".join(aged.words)
        connection.execute(
            f"INSERT INTO {aged.table}_fts ({aged.table}_fts, rowid, {words})"
            f" SELECT 'delete', id, {words} FROM {aged.table} WHERE id = ?",
            (number,),
        )
    connection.execute(f"DELETE FROM {aged.table} WHERE {aged.key} = ?", (number,))


def _forget_times(connection: Connection, table: str) -> None:
    connection.execute(
        f"DELETE FROM {table}_time WHERE shelf < (SELECT coalesce(min(id) >> {SHELF}, 1 << 62) FROM {table})"
    )
