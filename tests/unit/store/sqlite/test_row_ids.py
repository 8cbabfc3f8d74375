"""Row ids are never assigned twice."""

from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.row_ids import read_last_id, reserve_row_ids


def test_last_id_counts_deleted_rows_and_reserved_ids_are_skipped():
    connection = Connection(":memory:")
    connection.execute("CREATE TABLE pane (id INTEGER PRIMARY KEY AUTOINCREMENT, name)")
    assert read_last_id(connection, "pane") == 0
    connection.execute("INSERT INTO pane (name) VALUES ('a'), ('b')")
    connection.execute("DELETE FROM pane")
    assert read_last_id(connection, "pane") == 2
    reserve_row_ids(connection, {"pane": 7})
    reserve_row_ids(connection, {"pane": 3})
    connection.execute("INSERT INTO pane (name) VALUES ('c')")
    assert read_last_id(connection, "pane") == 8
