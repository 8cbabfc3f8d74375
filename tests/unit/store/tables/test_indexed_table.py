"""Time buckets widen with the rows that they cover."""

from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.indexed_table import BLOCKS


def test_rows_of_one_bucket_share_its_first_and_last_time():
    connection = Connection(":memory:")
    connection.execute("CREATE TABLE block_time (shelf INTEGER PRIMARY KEY, at, until)")
    BLOCKS.extend_times(connection, [(1, 50, 60), (255, 40, 45), (256, 70, 70)])
    BLOCKS.extend_times(connection, [(2, 55, 90)])
    assert list(connection.execute("SELECT * FROM block_time")) == [(0, 40, 90), (1, 70, 70)]
