"""Rows as structs, WHERE clauses from optional filters, and text that SQLite can store."""

import pytest
from msgspec import Struct

from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import RowSelector, build_where, read_last_id, replace_surrogates, reserve_row_ids


class Job(Struct, frozen=True, kw_only=True):
    id: int
    end: int | None = None
    is_done: bool = False
    extra: str = ""


@pytest.fixture
def connection() -> Connection:
    connection = Connection(":memory:")
    connection.execute('CREATE TABLE job (id, "end", done)')
    connection.execute("INSERT INTO job VALUES (1, NULL, 0), (2, 5, 1)")
    return connection


def test_rows_become_structs_with_renamed_decoded_and_omitted_fields(connection):
    jobs = RowSelector(Job, "job", columns={"is_done": "done"}, decoders={"is_done": bool}, omit=("extra",))
    assert jobs.list(connection, "ORDER BY id") == [Job(id=1), Job(id=2, end=5, is_done=True)]
    assert jobs.find(connection, "WHERE id = ?", (2,)) == Job(id=2, end=5, is_done=True)
    assert jobs.find(connection, "WHERE id = ?", (3,)) is None


def test_field_without_a_column_is_an_error_and_not_a_text(connection):
    with pytest.raises(Exception, match="no such column"):
        RowSelector(Job, "job").list(connection, "")


def test_where_joins_the_conditions_that_have_a_value():
    assert build_where({"a = ?": 1, "b = ?": None, "c > ?": 0}) == ("a = ? AND c > ?", (1, 0))
    assert build_where({"a = ?": None}) == ("TRUE", ())


def test_lone_surrogates_are_replaced():
    assert (replace_surrogates("a\ud800ü"), replace_surrogates("plain")) == ("a?ü", "plain")


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
