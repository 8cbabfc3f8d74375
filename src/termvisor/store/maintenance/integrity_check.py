"""Is the database whole? Looks without holding up a writer.

The index can only be compared with the text by a statement that locks the file, so that is done on a copy.
"""

import os
from contextlib import closing, suppress

import apsw

from termvisor.store.maintenance.backup import reading, write_copy
from termvisor.store.maintenance.retention import INDEXED
from termvisor.store.sqlite.database import Connection, connect


def examine(connection: Connection, *, thorough: bool, copy: str) -> str:
    """``ok``, or what is wrong. ``thorough`` reads every row and index, and needs room for a ``copy``."""
    wrong = _pages(connection, thorough=thorough)
    for table in INDEXED:
        wrong += _counted(connection, table)
    if thorough and not wrong:
        wrong += _compared(connection, copy)
    return "; ".join(wrong) or "ok"


def look(path: str) -> str:
    """What is wrong with the pages and indexes of a file that nobody writes; empty when nothing is."""
    with closing(reading(path)) as connection:
        return "; ".join(_pages(connection, thorough=True))


def compare_indexes(connection: Connection) -> list[str]:
    """What of the search indexes does not fit the text. Locks the file."""
    has = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return [wrong for table in INDEXED if table in has for wrong in _index(connection, table)]


def _pages(connection: Connection, *, thorough: bool) -> list[str]:
    check = "integrity_check" if thorough else "quick_check"
    return [str(row[0]) for row in connection.execute(f"PRAGMA {check}(5)") if row[0] != "ok"]


def _counted(connection: Connection, table: str) -> list[str]:
    lost: int = connection.execute(
        f"SELECT (SELECT count(*) FROM {table}) - (SELECT count(*) FROM {table}_fts_docsize)"
    ).get
    return [f"the index and the text differ by {abs(lost)} {table}s"] if lost else []


def _compared(connection: Connection, copy: str) -> list[str]:
    names = (copy, f"{copy}-wal", f"{copy}-shm")
    _remove(names)
    write_copy(connection, copy)
    try:
        with closing(connect(copy)) as own:
            return compare_indexes(own)
    finally:
        _remove(names)


def _remove(names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _index(connection: Connection, table: str) -> list[str]:
    try:
        connection.execute(f"INSERT INTO {table}_fts ({table}_fts, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return ["the index does not fit the text"]
    return []
