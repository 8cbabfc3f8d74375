"""Check the integrity of the database without blocking writers.

Comparing a search index with its text locks the file, so it is done on a copy.
"""

import os
from contextlib import closing, suppress

import apsw

from termvisor.store.maintenance.backup import open_immutable, write_copy
from termvisor.store.maintenance.retention import INDEXED_TABLES
from termvisor.store.sqlite.database import Connection, open_connection


def check_integrity(connection: Connection, *, thorough: bool, copy_path: str) -> str:
    """Return ``ok`` or the damage. ``thorough`` reads every row and index and writes a temporary copy."""
    damage = _check_pages(connection, thorough=thorough)
    for table in INDEXED_TABLES:
        damage += _compare_index_counts(connection, table)
    if thorough and not damage:
        damage += _check_indexes_on_copy(connection, copy_path)
    return "; ".join(damage) or "ok"


def find_file_damage(path: str) -> str:
    """Return the damage in the pages and indexes of a file that no process writes to; empty if there is none."""
    with closing(open_immutable(path)) as connection:
        return "; ".join(_check_pages(connection, thorough=True))


def find_index_damage(connection: Connection) -> list[str]:
    """Return the search indexes that do not match their text. Locks the file."""
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return [damage for table in INDEXED_TABLES if table in tables for damage in _check_index(connection, table)]


def _check_pages(connection: Connection, *, thorough: bool) -> list[str]:
    check = "integrity_check" if thorough else "quick_check"
    return [str(row[0]) for row in connection.execute(f"PRAGMA {check}(5)") if row[0] != "ok"]


def _compare_index_counts(connection: Connection, table: str) -> list[str]:
    missing: int = connection.execute(
        f"SELECT (SELECT count(*) FROM {table}) - (SELECT count(*) FROM {table}_fts_docsize)"
    ).get
    return [f"the search index and the text differ by {abs(missing)} {table}s"] if missing else []


def _check_indexes_on_copy(connection: Connection, copy_path: str) -> list[str]:
    names = (copy_path, f"{copy_path}-wal", f"{copy_path}-shm")
    _remove_files(names)
    write_copy(connection, copy_path)
    try:
        with closing(open_connection(copy_path)) as copy:
            return find_index_damage(copy)
    finally:
        _remove_files(names)


def _remove_files(names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _check_index(connection: Connection, table: str) -> list[str]:
    try:
        connection.execute(f"INSERT INTO {table}_fts ({table}_fts, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return [f"the search index of {table} does not match the text"]
    return []
