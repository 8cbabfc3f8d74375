import os
from contextlib import closing

from termvisor.store.maintenance.integrity_check import find_file_damage
from termvisor.store.sqlite.database import open_connection


async def test_thorough_check_removes_its_copy(store, new_pane, write_lines, tmp_path):
    await write_lines(await new_pane(), "hello")
    assert await store.maintenance.check_integrity(thorough=True) == "ok"
    assert sorted(os.listdir(tmp_path)) == ["visor.db", "visor.db-shm", "visor.db-wal"]


async def test_thorough_check_finds_an_index_that_lost_a_row(store, new_pane, write_lines):
    """The check reads the file itself: a copy would have a rebuilt index."""
    await write_lines(await new_pane(), "hello")
    with closing(open_connection(store._db.path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        index = connection.execute("SELECT * FROM sqlite_schema WHERE name = 'block_line'").fetchall()
        connection.execute("DELETE FROM sqlite_schema WHERE name = 'block_line'")
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("UPDATE block SET first_line = 99")
        connection.execute("PRAGMA writable_schema = ON")
        connection.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", index)
        connection.execute("PRAGMA writable_schema = RESET")
    assert await store.maintenance.check_integrity() == "ok"
    assert "block_line" in await store.maintenance.check_integrity(thorough=True)


async def test_checking_a_file_creates_no_other_files(store, tmp_path):
    await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    assert find_file_damage(str(tmp_path / "copy.db")) == ""
    assert "copy.db-wal" not in os.listdir(tmp_path)


async def test_thorough_check_does_not_block_writers(store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, *(f"line {number}" for number in range(5000)))
    looking = store.maintenance.check_integrity(thorough=True)
    assert await looking == "ok"
    assert await write_lines(pane, "on") == 5001
