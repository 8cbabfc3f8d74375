"""Restoring a real backup while holding the daemon's lock."""

import os
from collections.abc import AsyncIterator

import pytest

from termvisor.clock import SystemClock
from termvisor.errors import Conflict
from termvisor.ops.api.services import LocalServices
from termvisor.ops.database.db_restore import hold_daemon_lock
from termvisor.settings import Paths, make_instance_folders
from termvisor.store import Store
from termvisor.system import files
from termvisor.testing.operation_calls import run_command


@pytest.fixture
async def places(tmp_path) -> AsyncIterator[Paths]:
    """Create a database and its backup `copy.db`."""
    where = Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))
    make_instance_folders(where)
    store = await Store.open(where.database, SystemClock())
    await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    await store.close()
    yield where


async def test_a_dry_run_shows_both_databases(places: Paths, tmp_path) -> None:
    result = await run_command(LocalServices(places), "db", "restore", str(tmp_path / "copy.db"), "--dry-run")
    assert result.status == 0
    assert [line.split("schema")[0].strip() for line in result.out.splitlines()] == [
        "would restore",
        "and replace",
    ]
    assert os.listdir(places.data_dir).count("visor.db") == 1


async def test_without_confirmation_the_change_is_only_shown(places: Paths, tmp_path) -> None:
    before = os.stat(places.database).st_ino
    result = await run_command(LocalServices(places), "db", "restore", str(tmp_path / "copy.db"))
    assert result.status == 2
    assert [line[0] for line in result.question.splitlines()] == ["-", "+", "r"]
    assert os.stat(places.database).st_ino == before


async def test_a_confirmed_restore_replaces_the_database_and_keeps_the_old_one(places: Paths, tmp_path) -> None:
    before = os.stat(places.database).st_ino
    data = (
        await run_command(LocalServices(places), "robot", "db", "restore", str(tmp_path / "copy.db"), "--yes")
    ).envelope["data"]
    assert os.stat(data["kept"]).st_ino == before
    assert os.stat(places.database).st_ino != before
    assert files.read_lock_holder(places.daemon_lock) is None


async def test_restore_is_refused_while_a_daemon_runs(places: Paths, tmp_path) -> None:
    held = files.acquire_lock(places.daemon_lock)
    result = await run_command(LocalServices(places), "robot", "db", "restore", str(tmp_path / "copy.db"), "--yes")
    assert (result.status, result.envelope["error"]["code"]) == (75, "conflict")
    assert "visor down" in result.envelope["hint"]
    os.close(held or -1)


def test_no_daemon_starts_during_a_restore(places: Paths) -> None:
    with hold_daemon_lock(places):
        assert files.acquire_lock(places.daemon_lock) is None
        with pytest.raises(Conflict, match=f"pid {os.getpid()}"), hold_daemon_lock(places):
            pass
    assert files.read_lock_holder(places.daemon_lock) is None


async def test_errors_of_the_worker_keep_their_message(places: Paths, tmp_path) -> None:
    result = await run_command(LocalServices(places), "robot", "db", "restore", str(tmp_path / "none.db"), "--yes")
    assert (result.status, result.envelope["error"]["code"]) == (2, "invalid_args")
    assert result.envelope["error"]["message"] == f"{tmp_path}/none.db is missing or empty"


async def test_without_a_file_the_last_snapshot_is_restored(places: Paths, tmp_path) -> None:
    os.rename(tmp_path / "copy.db", places.snapshot_file)
    data = (await run_command(LocalServices(places), "robot", "db", "restore", "--yes")).envelope["data"]
    assert data["restored_from"] == places.snapshot_file
