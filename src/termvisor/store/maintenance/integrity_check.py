"""Check the integrity of the database without blocking writers.

Comparing a search index with its text locks the file, so it is done on a copy.
"""

import os
from contextlib import closing, suppress

from termvisor.store.maintenance.backup import open_immutable, write_copy
from termvisor.store.sqlite.database import Connection, open_connection
from termvisor.store.tables.indexed_table import INDEXED_TABLES


def check_integrity(connection: Connection, *, thorough: bool, copy_path: str) -> str:
    """Return ``ok`` or the damage found. ``thorough`` reads every row and index, and needs a temporary copy."""
    damage = _check_pages(connection, thorough=thorough)
    for table in INDEXED_TABLES.values():
        damage += table.compare_counts(connection)
    if thorough and not damage:
        damage += _check_indexes_on_copy(connection, copy_path)
    return "; ".join(damage) or "ok"


def find_file_damage(path: str) -> str:
    """Return the damage in the pages and indexes of a file that no process is writing; empty if it is intact."""
    with closing(open_immutable(path)) as connection:
        return "; ".join(_check_pages(connection, thorough=True))


def find_index_damage(connection: Connection) -> list[str]:
    """Describe each full-text index that differs from the text it indexes. Locks the database while it compares."""
    # A backup made by an older version may lack some of the tables.
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    indexed = [table for name, table in INDEXED_TABLES.items() if name in tables]
    return [damage for table in indexed for damage in table.compare_texts(connection)]


def _check_pages(connection: Connection, *, thorough: bool) -> list[str]:
    check = "integrity_check" if thorough else "quick_check"
    return [str(row[0]) for row in connection.execute(f"PRAGMA {check}(5)") if row[0] != "ok"]


def _check_indexes_on_copy(connection: Connection, copy_path: str) -> list[str]:
    names = (copy_path, f"{copy_path}-wal", f"{copy_path}-shm")
    # Left behind by a check that was killed.
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
