import os
import stat

import pytest

from termvisor.clock import SystemClock
from termvisor.errors import Conflict, StorageError
from termvisor.model.event import Event
from termvisor.model.maintenance import DatabaseContents
from termvisor.store import Store
from termvisor.store.maintenance.backup import claim_path, read_file_contents
from termvisor.store.sqlite.database_file import find_latest_version


async def test_backup_is_private_complete_and_one_file(store, new_pane, write_lines, tmp_path):
    pane = await new_pane()
    await write_lines(pane, "one", "two")
    path = str(tmp_path / "copies.db")
    size, contents = await store.maintenance.write_backup(path)
    assert (contents.panes, contents.lines, contents.events) == (1, 2, 0)
    assert size == os.stat(path).st_size
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["copies.db", "visor.db", "visor.db-shm", "visor.db-wal"]
    again = await Store.open(path, SystemClock())
    assert [line.text for line in await again.output.read_lines(pane)] == ["one", "two"]
    assert await again.check_integrity(thorough=True) == "ok"
    await again.close()


async def test_later_writes_are_not_in_the_backup(store, new_pane, write_lines, tmp_path):
    pane = await new_pane()
    await write_lines(pane, "before")
    await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    await write_lines(pane, "after")
    assert read_file_contents(str(tmp_path / "copy.db")).lines == 1


async def test_an_existing_file_is_never_replaced(store, tmp_path):
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(Conflict, match="already"):
        await store.maintenance.write_backup(str(tmp_path / "mine"))
    assert (tmp_path / "mine").read_text() == "precious"


async def test_a_failed_copy_leaves_nothing(store, tmp_path):
    (tmp_path / "copy.db.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match=r"copy\.db"):
        await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    assert not (tmp_path / "copy.db").exists()
    with pytest.raises(StorageError, match="No such file"):
        await store.maintenance.write_backup(str(tmp_path / "nowhere" / "copy.db"))


async def test_snapshot_replaces_the_previous_one(store, new_pane, write_lines, tmp_path):
    path = str(tmp_path / "snapshot.db")
    await store.maintenance.write_snapshot(path)
    await write_lines(await new_pane(), "more")
    (tmp_path / "snapshot.db.new").write_text("left by a killed process")
    assert await store.maintenance.write_snapshot(path) == os.stat(path).st_size
    assert read_file_contents(path).lines == 1


def test_path_is_claimed_before_the_copy(tmp_path):
    assert claim_path(str(tmp_path / "x.db")).endswith("x.db.part")
    with pytest.raises(Conflict):
        claim_path(str(tmp_path / "x.db"))


async def test_a_failed_copy_says_why(store, tmp_path):
    (tmp_path / "copy.db.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="symbolic links"):
        await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    assert sorted(os.listdir(tmp_path)) == ["visor.db", "visor.db-shm", "visor.db-wal"]


async def test_a_copy_may_be_written_to_the_current_folder(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size, contents = await store.maintenance.write_backup("copy.db")
    assert (size, contents) == (os.stat(tmp_path / "copy.db").st_size, read_file_contents("copy.db"))


async def test_a_backup_says_all_that_it_contains(store, new_pane, write_lines, tmp_path):
    pane = await new_pane()
    await write_lines(pane, "one", "two", at=100)
    await store.events.add([Event(at=at, kind="daemon_started") for at in (300, 200)])
    async for _ in store.maintenance.delete_older_rows(0):
        pass
    _, contents = await store.maintenance.write_backup(str(tmp_path / "a copy?.db"))
    assert contents == DatabaseContents(version=find_latest_version(), panes=1, lines=2, events=2, newest_at=300)
