import sqlite3
import struct

import apsw
import pytest

from termvisor.store.sqlite.database_file import (
    APPLICATION_ID,
    DatabaseHeader,
    apply_migrations,
    find_latest_version,
    list_migrations,
    read_database_header,
)


def database(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    return connection


def test_a_missing_and_an_empty_file_have_no_header(tmp_path):
    (tmp_path / "empty").touch()
    assert read_database_header(str(tmp_path / "missing")) is None
    assert read_database_header(str(tmp_path / "empty")) is None


def test_a_file_of_another_format_is_not_a_database(tmp_path):
    (tmp_path / "x").write_bytes(b"hello" * 100)
    assert read_database_header(str(tmp_path / "x")) == DatabaseHeader(False)


def test_version_and_owner_are_read_from_the_file(tmp_path):
    database(tmp_path / "x", f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 12").close()
    header = read_database_header(str(tmp_path / "x"))
    assert header == DatabaseHeader(True, 12, APPLICATION_ID)
    assert header.is_termvisor


def test_header_in_the_write_ahead_log_counts(tmp_path):
    connection = database(tmp_path / "x", "PRAGMA user_version = 1", "PRAGMA journal_mode = wal")
    connection.execute("PRAGMA user_version = 2")
    connection.execute("CREATE TABLE later (x)")
    connection.commit()
    assert (tmp_path / "x").read_bytes()[63] == 1
    assert read_database_header(str(tmp_path / "x")) == DatabaseHeader(True, 2, 0)
    connection.close()


def test_a_write_ahead_file_that_was_cut_short_counts_up_to_its_last_commit(tmp_path):
    connection = database(tmp_path / "x", "PRAGMA user_version = 1", "PRAGMA journal_mode = wal")
    connection.execute("PRAGMA user_version = 2")
    connection.execute("PRAGMA user_version = 3")
    data = (tmp_path / "x-wal").read_bytes()
    (tmp_path / "y").write_bytes((tmp_path / "x").read_bytes())
    (tmp_path / "y-wal").write_bytes(data[:-4050])
    assert read_database_header(str(tmp_path / "y")) == DatabaseHeader(True, 2, 0)
    connection.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "0002_colour.sql").write_text("ALTER TABLE thing ADD COLUMN colour TEXT;")
    (tmp_path / "0001_thing.sql").write_text("CREATE TABLE thing (id); INSERT INTO thing VALUES (1);")
    (tmp_path / "notes.txt").write_text("not a migration")
    return tmp_path


def schema(connection):
    return connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()


def test_migrations_are_applied_in_order(folder):
    connection = apsw.Connection(":memory:")
    apply_migrations(connection, str(folder))
    assert [each.version for each in list_migrations(str(folder))] == [1, 2]
    assert connection.execute("SELECT id, colour FROM thing").fetchall() == [(1, None)]
    assert connection.pragma("user_version") == 2


def test_migrations_are_applied_once(folder):
    connection = apsw.Connection(":memory:")
    apply_migrations(connection, str(folder))
    before = schema(connection)
    apply_migrations(connection, str(folder))
    assert schema(connection) == before
    assert connection.execute("SELECT count(*) FROM thing").get == 1


def test_failed_migration_is_rolled_back(folder):
    (folder / "0003_broken.sql").write_text("CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);")
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError, match="nowhere"):
        apply_migrations(connection, str(folder))
    assert connection.pragma("user_version") == 2
    assert [name for name, _ in schema(connection)] == ["thing"]
    assert not connection.in_transaction


def test_shipped_migrations_create_the_latest_schema():
    connection = apsw.Connection(":memory:")
    apply_migrations(connection)
    before = schema(connection)
    apply_migrations(connection)
    assert connection.pragma("user_version") == find_latest_version()
    assert schema(connection) == before
    assert {"server", "pane", "epoch", "gap", "block", "mark", "event"} <= {name for name, _ in before}


def test_shipped_migrations_are_numbered_without_gaps():
    assert [each.version for each in list_migrations()] == list(range(1, find_latest_version() + 1))


def test_older_deliveries_and_votes_keep_their_order():
    connection = apsw.Connection(":memory:")
    connection.pragma("foreign_keys", True)
    for migration in list_migrations()[:6]:
        with open(migration.path, encoding="utf-8") as file:
            connection.execute(file.read())
        connection.pragma("user_version", migration.version)
    connection.execute("INSERT INTO server VALUES (1, 'local', '/s', 1, 1)")
    connection.execute("INSERT INTO pane VALUES (1, 1, '%1', 0, '{}', 1, 1, NULL, NULL, 1)")
    for key, at, outcome in (("a", 20, "delivered"), ("b", 10, None)):
        row = (key, "c", 1, "h", "t", "typed", at, at, outcome, "")
        connection.execute("INSERT INTO send VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.execute("INSERT INTO question VALUES (5, 1, 2, 'c', 'h', 1, '{}', 'denied', 2)")
    connection.execute("INSERT INTO voice VALUES (5, 2, 'ann', 'deny')")
    apply_migrations(connection)
    assert connection.execute("SELECT id, key, outcome FROM send").fetchall() == [(1, "b", None), (2, "a", "delivered")]
    assert connection.execute("SELECT * FROM voice").fetchall() == [(5, 2, "ann", "deny")]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def build_frame(number: int, commit: int, version: int, salt: bytes = b"s" * 8, size: int = 512) -> bytes:
    page = bytearray(size)
    page[60:64] = version.to_bytes(4, "big")
    return struct.pack(">II8s8x", number, commit, salt) + bytes(page)


LOG_HEADER = struct.pack(">8xI4x8s8x", 512, b"s" * 8)


@pytest.mark.parametrize(
    ("log", "version"),
    [
        (LOG_HEADER + build_frame(1, 1, 2), 2),
        (LOG_HEADER + build_frame(1, 0, 2), 1),
        (LOG_HEADER + build_frame(1, 0, 2) + build_frame(7, 1, 9), 2),
        (LOG_HEADER + build_frame(7, 1, 9) + build_frame(1, 1, 3), 3),
        (LOG_HEADER + build_frame(1, 1, 2) + build_frame(1, 0, 3), 2),
        (LOG_HEADER + build_frame(1, 1, 2) + build_frame(1, 1, 3, salt=b"o" * 8), 2),
        (LOG_HEADER + build_frame(7, 1, 9), 1),
        (LOG_HEADER + build_frame(1, 1, 2)[:80], 1),
        (LOG_HEADER[:31], 1),
        (b"", 1),
    ],
)
def test_only_committed_pages_of_the_log_count(tmp_path, log, version):
    database(tmp_path / "x", "PRAGMA user_version = 1").close()
    (tmp_path / "x-wal").write_bytes(log)
    assert read_database_header(str(tmp_path / "x")).version == version


def test_a_file_shorter_than_a_header_is_not_a_database(tmp_path):
    database(tmp_path / "x", "PRAGMA user_version = 1").close()
    data = (tmp_path / "x").read_bytes()
    for length, is_database in ((99, False), (100, True)):
        (tmp_path / "y").write_bytes(data[:length])
        assert read_database_header(str(tmp_path / "y")).is_database is is_database


def test_an_interrupted_migration_can_be_repeated(folder):
    connection = apsw.Connection(":memory:")
    (folder / "0002_colour.sql").write_text("ALTER TABLE thing ADD COLUMN colour TEXT; SELECT * FROM nowhere;")
    with pytest.raises(apsw.SQLError):
        apply_migrations(connection, str(folder))
    assert (connection.pragma("user_version"), connection.in_transaction) == (1, False)
    (folder / "0002_colour.sql").write_text("ALTER TABLE thing ADD COLUMN colour TEXT;")
    apply_migrations(connection, str(folder))
    assert connection.pragma("user_version") == 2
