"""Read and reserve AUTOINCREMENT row ids. An id is never reused, also not after its row was deleted."""

from collections.abc import Mapping

from termvisor.store.sqlite.database import Connection


def read_last_id(connection: Connection, table: str) -> int:
    """Return the highest id ever assigned in a table, 0 before the first; max(id) would forget deleted rows."""
    last_id: int | None = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
    return last_id or 0


def reserve_row_ids(connection: Connection, highest: Mapping[str, int]) -> None:
    """Make new rows of these tables get ids above the given ones."""
    for table, row_id in highest.items():
        known: int | None = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
        if known is None:
            connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, row_id))
        elif known < row_id:
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (row_id, table))
