import asyncio
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading

import apsw
import pytest

from termvisor.errors import InternalError, NewerDatabase, StorageError
from termvisor.store.sqlite import database
from termvisor.store.sqlite.database import AUTO_VACUUM_INCREMENTAL, PAGE_SIZE, Database, DatabaseClosed, get_tokenizer
from termvisor.store.sqlite.database_file import find_latest_version


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "visor.db")


@pytest.fixture
async def db(path):
    database = await Database.open(path)
    yield database
    await database.close()


def one(sql, *values):
    return lambda connection: connection.execute(sql, values).get


async def add_server(db, socket="/s"):
    await db.write(one("INSERT INTO server (target, socket, pid, started) VALUES ('local', ?, 1, 1)", socket))


async def test_a_new_database_is_private_also_the_files_beside_it(db, tmp_path):
    await add_server(db)
    modes = {name: os.stat(tmp_path / name).st_mode & 0o777 for name in os.listdir(tmp_path)}
    assert modes == {"visor.db": 0o600, "visor.db-wal": 0o600, "visor.db-shm": 0o600}


async def test_a_database_that_others_could_read_is_made_private(path):
    await (await Database.open(path)).close()
    os.chmod(path, 0o644)
    await (await Database.open(path)).close()
    assert os.stat(path).st_mode & 0o777 == 0o600


async def test_new_database_has_a_write_ahead_log_and_application_id(db):
    assert await db.read(one("PRAGMA journal_mode")) == "wal"
    assert await db.read(one("PRAGMA application_id")) == int.from_bytes(b"VISR", "big")
    assert await db.write(one("SELECT 7")) == 7
    assert await db.read(one("PRAGMA foreign_keys")) == 1
    assert await db.read(one("PRAGMA mmap_size")) == 0


async def test_failed_write_is_rolled_back(db):
    def fail(connection):
        connection.execute("INSERT INTO server (target, socket, pid, started) VALUES ('x', 'y', 1, 1)")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await db.write(fail)
    assert await db.read(one("SELECT count(*) FROM server")) == 0
    await add_server(db)
    assert await db.read(one("SELECT count(*) FROM server")) == 1


async def test_a_reader_cannot_write(db):
    with pytest.raises(StorageError, match="read-only"):
        await db.read(one("DELETE FROM server"))


async def test_invalid_statement_is_an_internal_error(db):
    with pytest.raises(InternalError):
        await db.read(one("SELECT nothing FROM nowhere"))


async def test_another_process_reads_what_was_committed_and_writes_too(db, path):
    await add_server(db)
    script = (
        "import asyncio, sys\n"
        "from termvisor.store.sqlite.database import Database\n"
        "async def main():\n"
        "    db = await Database.open(sys.argv[1])\n"
        "    print(await db.read(lambda c: c.execute('SELECT count(*) FROM server').get))\n"
        "    await db.write(lambda c: c.execute(\"UPDATE server SET target = 'theirs'\").get)\n"
        "    await db.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert await db.read(one("SELECT target FROM server")) == "theirs"


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"short", b"SQLite format 3\0 but cut"])
async def test_a_file_that_is_no_database_is_rejected_and_unchanged(path, tmp_path, content):
    (tmp_path / "visor.db").write_bytes(content)
    with pytest.raises(StorageError, match="is not a database"):
        await Database.open(path)
    assert (tmp_path / "visor.db").read_bytes() == content
    assert os.listdir(tmp_path) == ["visor.db"]


async def test_the_database_of_another_program_is_rejected_and_unchanged(path, tmp_path):
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE precious (x)")
    theirs.close()
    before = (tmp_path / "visor.db").read_bytes()
    with pytest.raises(StorageError, match="belongs to another program"):
        await Database.open(path)
    assert (tmp_path / "visor.db").read_bytes() == before
    assert os.listdir(tmp_path) == ["visor.db"]


async def test_a_truncated_database_is_rejected_and_unchanged(path, tmp_path):
    await (await Database.open(path)).close()
    os.truncate(path, 10_000)
    before = (tmp_path / "visor.db").read_bytes()
    with pytest.raises(StorageError, match="damaged") as caught:
        await Database.open(path)
    assert "was not changed" in caught.value.hint
    assert (tmp_path / "visor.db").read_bytes() == before


async def test_damaged_page_is_reported_when_it_is_read(path, tmp_path):
    db = await Database.open(path)
    page = await db.read(one("SELECT rootpage FROM sqlite_schema WHERE name = 'server'")) - 1
    await db.close()
    data = bytearray((tmp_path / "visor.db").read_bytes())
    data[page * PAGE_SIZE : (page + 1) * PAGE_SIZE] = b"\xff" * PAGE_SIZE
    (tmp_path / "visor.db").write_bytes(data)
    db = await Database.open(path)
    with pytest.raises(StorageError, match="damaged"):
        await add_server(db)
    await db.close()


async def test_long_work_runs_beside_the_writer(db):
    began, may_end = threading.Event(), threading.Event()

    def work(connection):
        began.set()
        assert may_end.wait(10)
        return connection.execute("SELECT count(*) FROM server").get

    beside = asyncio.ensure_future(db.run_on_own_connection(work))
    await asyncio.to_thread(began.wait, 10)
    await add_server(db)
    may_end.set()
    assert await beside == 1


async def test_new_file_has_incremental_vacuum(db):
    assert await db.read(one("PRAGMA auto_vacuum")) == AUTO_VACUUM_INCREMENTAL


async def test_small_old_file_is_converted_to_incremental_vacuum(path, tmp_path):
    await (await Database.open(path)).close()
    with sqlite3.connect(path, isolation_level=None) as older:
        older.execute("PRAGMA journal_mode = delete")
        older.execute("PRAGMA auto_vacuum = 0")
        older.execute("VACUUM")
    older.close()
    db = await Database.open(path)
    assert await db.read(one("PRAGMA auto_vacuum")) == AUTO_VACUUM_INCREMENTAL
    assert await db.read(one("PRAGMA journal_mode")) == "wal"
    await db.close()


async def test_a_newer_database_is_refused_and_nothing_is_left_beside_it(path, tmp_path):
    db = await Database.open(path)
    await db.write(one(f"PRAGMA user_version = {find_latest_version() + 1}"))
    await db.close()
    before = (tmp_path / "visor.db").read_bytes()
    with pytest.raises(NewerDatabase, match=f"schema {find_latest_version() + 1}"):
        await Database.open(path)
    assert (tmp_path / "visor.db").read_bytes() == before
    assert os.listdir(tmp_path) == ["visor.db"]


async def test_newer_version_in_the_write_ahead_log_is_seen(db, path, tmp_path):
    await db.write(one("PRAGMA user_version = 9000"))
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(path + suffix, crashed)
    with pytest.raises(NewerDatabase):
        await Database.open(str(crashed / "visor.db"))
    assert sorted(os.listdir(crashed)) == ["visor.db", "visor.db-wal"]


async def test_missing_folder_is_reported_with_a_hint(tmp_path):
    with pytest.raises(StorageError) as caught:
        await Database.open(str(tmp_path / "missing" / "visor.db"))
    assert "folder" in caught.value.hint


async def test_full_disk_is_reported_and_writes_resume_later(db):
    pages = await db.read(one("PRAGMA page_count"))
    await db.write(one(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(StorageError, match="disk is full"):
        await add_server(db, "x" * 100_000)
    assert not db.is_writable()
    await db.write(one("PRAGMA max_page_count = 100000"))
    await add_server(db, "x" * 100_000)
    assert db.is_writable()


async def test_closing_leaves_one_file_and_a_second_close_does_nothing(path, tmp_path):
    db = await Database.open(path)
    await add_server(db)
    await db.close()
    await db.close()
    assert os.listdir(tmp_path) == ["visor.db"]


async def test_closed_database_raises(path):
    db = await Database.open(path)
    await db.close()
    with pytest.raises(StorageError, match="closed"):
        await add_server(db)


async def test_a_checkpoint_moves_all_pages_into_the_file(db):
    await add_server(db, "x" * 100_000)
    before, waiting = await db.measure_sizes()
    assert waiting > 12
    assert await db.checkpoint() == 0
    after, _ = await db.measure_sizes()
    assert after > before


async def test_shrink_memory_keeps_the_data(db):
    await db.write(one("CREATE TABLE heavy (data)"))
    await db.write(
        lambda connection: connection.executemany("INSERT INTO heavy VALUES (?)", [(bytes(9000),)] * 300).get
    )
    assert await db.read(one("SELECT sum(length(data)) FROM heavy")) == 300 * 9000
    busy = apsw.memory_used()
    await db.shrink_memory()
    assert apsw.memory_used() < busy - (1 << 20)
    assert await db.read(one("SELECT count(*) FROM heavy")) == 300


async def test_killed_process_loses_no_committed_write(path):
    script = (
        "import asyncio, os, sys\n"
        "from termvisor.store.sqlite.database import Database\n"
        "async def main():\n"
        "    db = await Database.open(sys.argv[1])\n"
        "    sql = \"INSERT INTO server (target, socket, pid, started) VALUES ('local', '/s', 1, 1)\"\n"
        "    await db.write(lambda c: c.execute(sql).get)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == -9
    db = await Database.open(path)
    assert await db.read(one("SELECT count(*) FROM server")) == 1
    await db.close()


def test_words_are_letters_and_digits_without_case_and_diacritics():
    split = get_tokenizer()
    assert [word for _, _, word in split("Usage_LIMIT don't Café src/main.rs:12 ● 中文")] == [
        *("usage", "limit", "don", "t", "cafe", "src", "main", "rs", "12", "中", "文")
    ]
    assert split("é x") == [(0, 2, "e"), (3, 4, "x")]


@pytest.mark.parametrize(("limit", "vacuum"), [(1, 0), (1 << 20, AUTO_VACUUM_INCREMENTAL)])
async def test_a_large_old_file_is_not_converted(path, monkeypatch, limit, vacuum):
    await (await Database.open(path)).close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as older:
        older.execute("PRAGMA journal_mode = delete")
        older.execute("PRAGMA auto_vacuum = 0")
        older.execute("VACUUM")
    monkeypatch.setattr(database, "_MAX_PAGES_TO_VACUUM", limit)
    db = await Database.open(path)
    assert await db.read(one("PRAGMA auto_vacuum")) == vacuum
    await db.close()


async def test_every_call_of_a_closed_database_raises(path):
    db = await Database.open(path)
    await db.close()
    calls = (
        lambda: db.write(one("SELECT 1")),
        lambda: db.write_durably(one("SELECT 1")),
        lambda: db.read(one("SELECT 1")),
        db.checkpoint,
        db.check_files,
        db.shrink_memory,
    )
    for call in calls:
        with pytest.raises(DatabaseClosed, match="the database is closed"):
            await call()


def test_a_damaged_file_is_reported_when_it_is_opened(tmp_path):
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 20_000)
    with pytest.raises((apsw.NotADBError, apsw.CorruptError)):
        database.open_connection(str(tmp_path / "x.db"))


async def test_a_durable_write_is_announced_after_it_is_synced(db):
    seen = []

    def check(connection):
        seen.append(connection.pragma("synchronous"))
        return 7

    assert await db.write_durably(check, on_stored=lambda: seen.append("stored")) == 7
    with pytest.raises(ValueError, match="no"):
        await db.write_durably(lambda connection: int("no"), on_stored=lambda: seen.append("never"))
    assert await db.write(lambda connection: connection.pragma("synchronous")) == 1
    assert seen == [2, "stored"]


async def test_an_error_of_a_statement_says_nothing_about_the_disk(db):
    with pytest.raises(InternalError):
        await db.write(one("SELECT nothing"))
    assert db.is_writable()


async def test_a_read_that_fails_leaves_no_transaction_open(db):
    with pytest.raises(InternalError):
        await db.read(one("SELECT nothing"))
    await add_server(db)
    assert await db.read(one("SELECT count(*) FROM server")) == 1


async def test_a_locked_database_is_reported(db, path):
    await db.write(lambda connection: connection.set_busy_timeout(0))
    with contextlib.closing(apsw.Connection(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="is locked by another program"):
            await add_server(db)
        other.execute("ROLLBACK")
    await add_server(db)
    assert db.is_writable()


async def test_sizes_count_the_file_and_its_log(db, path):
    await add_server(db, "x" * 100_000)
    log_bytes = os.stat(f"{path}-wal").st_size
    assert await db.measure_sizes() == (os.stat(path).st_size + log_bytes, (log_bytes - 32) // (PAGE_SIZE + 24))
    await db.close()
    assert await db.measure_sizes() == (os.stat(path).st_size, 0)
