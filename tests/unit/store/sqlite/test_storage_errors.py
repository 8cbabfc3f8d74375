"""Files of an open database that another program deleted, replaced, cut or overwrote."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from termvisor.errors import StorageError
from termvisor.store.sqlite.database import Database
from termvisor.store.sqlite.storage_errors import FileGuard, RepairableDamage, is_wal_header_intact


@pytest.fixture
async def database(tmp_path: Path):
    opened = await Database.open(str(tmp_path / "visor.db"))
    await opened.write(lambda connection: connection.execute("CREATE TABLE note (text)").fetchall())
    yield opened
    await opened.close()


async def add_note(database: Database, text: str) -> None:
    await database.write(lambda connection: connection.execute("INSERT INTO note VALUES (?)", (text,)).fetchall())


async def read_notes(database: Database) -> list[str]:
    return await database.read(lambda connection: [row[0] for row in connection.execute("SELECT text FROM note")])


def overwrite_header(path: str) -> None:
    with open(f"{path}-wal", "r+b") as file:
        file.write(b"x" * 32)


@pytest.mark.parametrize(
    "damage",
    [
        os.unlink,
        lambda path: os.unlink(f"{path}-wal"),
        lambda path: os.unlink(f"{path}-shm"),
        lambda path: [os.unlink(path + suffix) for suffix in ("", "-wal", "-shm")],
        overwrite_header,
    ],
    ids=["database", "log", "index", "all", "header of the log"],
)
async def test_deleted_files_and_a_damaged_log_are_written_again_and_nothing_is_lost(
    database: Database, damage: Callable[[str], object]
) -> None:
    await add_note(database, "before")
    damage(database.path)
    # Several writers and readers meet the damage at once.
    await asyncio.gather(*(add_note(database, f"after {number}") for number in range(3)), read_notes(database))
    assert await read_notes(database) == ["before", "after 0", "after 1", "after 2"]
    assert (database.is_writable(), database.damage) == (True, "")
    assert "while the daemon was running; it was written again" in database.repair_notice
    assert sorted(os.listdir(os.path.dirname(database.path))) == ["visor.db", "visor.db-shm", "visor.db-wal"]
    assert os.stat(database.path).st_mode & 0o077 == 0
    await database.close()
    again = await Database.open(database.path)
    assert len(await read_notes(again)) == 4
    await again.close()


async def test_a_deleted_file_is_noticed_without_a_write(database: Database) -> None:
    os.unlink(database.path)
    await database.check_files()
    assert os.path.exists(database.path)


async def test_a_cut_file_is_an_error_and_is_not_written_to(database: Database) -> None:
    await add_note(database, "x" * 100_000)
    await database.checkpoint()
    os.truncate(database.path, 16384)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"was cut from \d+ to 16384 bytes") as caught:
            await add_note(database, "lost")
    assert "visor db restore" in caught.value.hint
    assert (database.is_writable(), "was cut" in database.damage) == (False, True)
    await database.close()
    assert os.stat(database.path).st_size == 16384


async def test_a_replaced_file_is_an_error_until_it_is_back(database: Database) -> None:
    os.rename(database.path, f"{database.path}.away")
    Path(database.path).write_text("theirs")
    with pytest.raises(StorageError, match="was replaced by another file"):
        await add_note(database, "nowhere")
    assert Path(database.path).read_text() == "theirs"
    os.replace(f"{database.path}.away", database.path)
    await add_note(database, "back")
    assert (await read_notes(database), database.damage) == (["back"], "")


async def test_a_vacuum_that_shortens_the_file_is_no_damage(database: Database) -> None:
    await add_note(database, "x" * 200_000)
    await database.checkpoint()
    before = os.stat(database.path).st_size
    await database.write(lambda connection: connection.execute("DELETE FROM note").fetchall())
    await database.write(lambda connection: connection.execute("PRAGMA incremental_vacuum").fetchall())
    await database.checkpoint()
    assert os.stat(database.path).st_size < before
    await add_note(database, "small")


def test_a_log_is_intact_if_it_is_missing_empty_or_has_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert is_wal_header_intact(str(path))
    path.write_bytes(b"")
    assert is_wal_header_intact(str(path))
    for data in (b"short", bytes.fromhex("377f0682") + bytes(28), b"y" * 32):
        path.write_bytes(data)
        assert not is_wal_header_intact(str(path))


def test_only_files_that_were_there_can_be_missed(tmp_path: Path) -> None:
    path = tmp_path / "visor.db"
    path.write_bytes(b"x" * 100)
    guard = FileGuard(str(path))
    guard.check(100)
    guard.remember()
    guard.check(100)
    (tmp_path / "visor.db-wal").touch()
    guard.check(100)
    guard.remember()
    (tmp_path / "visor.db-wal").unlink()
    with pytest.raises(RepairableDamage, match="-wal was deleted"):
        guard.check(100)


@pytest.mark.parametrize(("size", "needed", "is_cut"), [(100, 200, False), (99, 99, False), (99, 100, True)])
def test_a_file_is_cut_if_it_is_shorter_than_before_and_than_needed(tmp_path: Path, size, needed, is_cut) -> None:
    path = tmp_path / "visor.db"
    path.write_bytes(b"x" * 100)
    guard = FileGuard(str(path))
    guard.remember()
    os.truncate(path, size)
    with pytest.raises(StorageError, match="was cut from 100 to 99") if is_cut else contextlib.nullcontext():
        guard.check(needed)
