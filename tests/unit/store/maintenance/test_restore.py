import os
import shutil
import stat
from pathlib import Path

import apsw
import pytest

from termvisor.clock import SystemClock
from termvisor.errors import BadRequest, NewerDatabase, StorageError
from termvisor.model.event import Event
from termvisor.model.maintenance import RestoreSummary
from termvisor.store import Store
from termvisor.store.maintenance.backup import read_file_contents
from termvisor.store.maintenance.restore import inspect_restore, restore_backup
from termvisor.store.sqlite.database_file import find_latest_version

AT = 1_767_268_800 * 10**9


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "visor.db")


@pytest.fixture
def copy(tmp_path):
    return str(tmp_path / "copy.db")


@pytest.fixture
async def stored_backup(store, new_pane, write_lines, copy):
    """A copy of a database with one line, and after it two events and another line."""
    pane = await new_pane()
    await write_lines(pane, "before")
    await store.maintenance.write_backup(copy)
    await store.events.add([Event(at=7, kind="daemon_started"), Event(at=8, kind="daemon_stopped")])
    await write_lines(pane, "after")
    await store.close()
    return pane


async def test_backup_replaces_the_database_and_the_old_one_is_kept(stored_backup, path, copy, tmp_path):
    done = restore_backup(copy, path, AT)
    assert (done.backup.lines, done.present.lines, done.present.events) == (1, 2, 2)
    assert done.kept == f"{path}.2026-01-01T120000"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["copy.db", "visor.db", "visor.db.2026-01-01T120000"]
    for name, texts in ((path, ["before"]), (done.kept, ["before", "after"])):
        store = await Store.open(name, SystemClock())
        assert [line.text for line in await store.output.read_lines(stored_backup)] == texts
        assert await store.check_integrity(thorough=True) == "ok"
        await store.close()


async def test_restore_does_not_reuse_assigned_ids(stored_backup, path, copy):
    restore_backup(copy, path, AT)
    store = await Store.open(path, SystemClock())
    assert (await store.events.add([Event(at=9, kind="daemon_started")]))[0].id == 3
    assert await store.output.open_epoch(stored_backup, "pipe", 9) == 3
    await store.close()


async def test_a_second_restore_at_the_same_time_keeps_both(stored_backup, path, copy):
    first, second = restore_backup(copy, path, AT), restore_backup(copy, path, AT)
    assert second.kept == f"{first.kept}.2"


async def test_inspect_restore_changes_nothing(stored_backup, path, copy, tmp_path):
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    done = inspect_restore(copy, path)
    assert (done.backup.events, done.present.events, done.kept) == (0, 2, None)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


async def test_restore_without_a_present_database(stored_backup, path, copy):
    os.unlink(path)
    done = restore_backup(copy, path, AT)
    assert (done.present, done.kept) == (None, None)
    assert os.path.exists(path)


async def test_damaged_database_is_kept_with_its_wal_files(stored_backup, path, copy, tmp_path):
    (tmp_path / "visor.db").write_bytes(b"\xff" * 20_000)
    (tmp_path / "visor.db-wal").write_bytes(b"ahead")
    done = restore_backup(copy, path, AT)
    assert done.present is None
    assert os.path.getsize(done.kept) == 20_000
    assert Path(f"{done.kept}-wal").read_bytes() == b"ahead"
    assert not os.path.exists(f"{path}-wal")


def foreign(copy):
    os.unlink(copy)
    connection = apsw.Connection(copy)
    connection.execute("CREATE TABLE x (y)")
    connection.close()


def newer(copy):
    connection = apsw.Connection(copy)
    connection.pragma("user_version", find_latest_version() + 1)
    connection.close()


def beside(copy):
    with open(f"{copy}-wal", "wb") as file:
        file.write(b"x")


def damaged(copy):
    size = os.stat(copy).st_size
    with open(copy, "r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * 8192)


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (os.unlink, BadRequest, "is missing or empty"),
        (lambda copy: os.truncate(copy, 0), BadRequest, "is missing or empty"),
        (lambda copy: os.truncate(copy, 50), BadRequest, "is not a Termvisor database"),
        (foreign, BadRequest, "is not a Termvisor database"),
        (newer, NewerDatabase, "schema"),
        (beside, BadRequest, "in use"),
        (damaged, StorageError, "damaged"),
        (lambda copy: (os.unlink(copy), os.mkdir(copy)), BadRequest, "directory"),
    ],
)
async def test_invalid_backup_is_rejected(stored_backup, path, copy, spoil, error, message):
    before = Path(path).read_bytes()
    spoil(copy)
    with pytest.raises(error, match=message):
        restore_backup(copy, path, AT)
    assert Path(path).read_bytes() == before


async def test_database_itself_is_rejected_as_backup(stored_backup, path):
    with pytest.raises(BadRequest, match="itself"):
        restore_backup(path, path, AT)


async def test_backup_with_a_damaged_index_is_rejected(stored_backup, path, copy):
    connection = apsw.Connection(copy)
    connection.execute("UPDATE block SET text = 'other'")
    connection.close()
    shutil.copy(path, f"{path}.same")
    with pytest.raises(StorageError, match="search index of block does not match"):
        restore_backup(copy, path, AT)


async def test_a_file_system_without_hard_links_keeps_the_old_database(stored_backup, path, copy, monkeypatch):
    def refuse(*_):
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    before = inspect_restore(copy, path)
    done = restore_backup(copy, path, AT)
    assert done == RestoreSummary(
        backup=before.backup,
        backup_bytes=os.stat(copy).st_size,
        present=before.present,
        kept=f"{path}.2026-01-01T120000",
    )
    assert (read_file_contents(done.kept), read_file_contents(path)) == (done.present, done.backup)


async def test_a_restore_that_was_killed_leaves_nothing_in_the_next(stored_backup, path, copy, tmp_path):
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"visor.db.restored{suffix}").write_bytes(b"x" * 100)
    done = restore_backup(copy, path, AT)
    assert read_file_contents(path) == done.backup
    assert sorted(os.listdir(tmp_path)) == ["copy.db", "visor.db", "visor.db.2026-01-01T120000"]


async def test_an_empty_log_beside_a_backup_is_no_use_of_it(stored_backup, path, copy):
    Path(f"{copy}-wal").touch()
    assert inspect_restore(copy, path).backup.lines == 1


async def test_every_rejected_backup_has_a_hint(stored_backup, path, copy):
    for name in (f"{copy}.missing", os.path.dirname(copy), path):
        with pytest.raises(BadRequest) as error:
            inspect_restore(name, path)
        assert error.value.hint == "Name a file that `visor db backup` wrote."
