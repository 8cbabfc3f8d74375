import sqlite3

from termvisor.store.sqlite.file_header import APPLICATION_ID, DatabaseHeader, read_database_header


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


def test_a_file_of_something_else_is_no_database(tmp_path):
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
