"""Time buckets widen with the rows that they cover."""

import pytest

from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.indexed_table import BLOCKS, merge_ranges


def test_rows_of_one_bucket_share_its_first_and_last_time():
    connection = Connection(":memory:")
    connection.execute("CREATE TABLE block_time (shelf INTEGER PRIMARY KEY, at, until)")
    BLOCKS.extend_times(connection, [(1, 50, 60), (255, 40, 45), (256, 70, 70)])
    BLOCKS.extend_times(connection, [(2, 55, 90)])
    assert list(connection.execute("SELECT * FROM block_time")) == [(0, 40, 90), (1, 70, 70)]


async def test_a_text_that_is_indexed_in_another_form_is_recorded(store, new_pane, write_lines):
    for text in ("plain", "日本", "more"):
        await write_lines(await new_pane(), text)
    rows = await store._db.read(lambda connection: list(connection.execute("SELECT id FROM block_rewritten")))
    assert rows == [(2,)]


@pytest.mark.parametrize(
    ("ranges", "merged"),
    [
        ([], []),
        ([(8, 9), (4, 7), (1, 2)], [(4, 9), (1, 2)]),
        ([(8, 9), (5, 6)], [(8, 9), (5, 6)]),
    ],
)
def test_adjacent_ranges_are_joined(ranges, merged):
    assert merge_ranges(ranges) == merged


@pytest.mark.parametrize(
    ("since", "until", "ranges"),
    [
        (None, None, [(0, (1 << 63) - 1)]),
        (None, 49, [(0, 255)]),
        (None, 50, [(0, 511)]),
        (60, None, [(256, 511)]),
        (41, 49, []),
        (61, None, []),
    ],
)
def test_buckets_of_a_time_range_are_found(since, until, ranges):
    connection = Connection(":memory:")
    connection.execute("CREATE TABLE block_time (shelf INTEGER PRIMARY KEY, at, until)")
    BLOCKS.extend_times(connection, [(1, 10, 40), (256, 50, 60)])
    assert BLOCKS.list_id_ranges(connection, since, until) == ranges
