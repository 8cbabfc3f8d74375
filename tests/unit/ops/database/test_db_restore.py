"""Restoring for real: a real database, a real copy, and the daemon's own lock."""

import os
from collections.abc import AsyncIterator

import pytest

from termvisor.clock import SystemClock
from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths, make_instance_folders
from termvisor.store import Store
from termvisor.system import lock_file
from termvisor.testing.operation_calls import run_command


@pytest.fixture
async def places(tmp_path) -> AsyncIterator[Paths]:
    """A database, and beside it a copy of it, `copy.db`."""
    where = Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))
    make_instance_folders(where)
    store = await Store.open(where.database, SystemClock())
    await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    await store.close()
    yield where


async def test_a_dry_run_tells_what_would_be_replaced_by_what(places: Paths, tmp_path) -> None:
    answered = await run_command(LocalServices(places), "db", "restore", str(tmp_path / "copy.db"), "--dry-run")
    assert answered.status == 0
    assert [line.split("schema")[0].strip() for line in answered.out.splitlines()] == [
        "would put back",
        "in the place of",
    ]
    assert os.listdir(places.data_dir).count("visor.db") == 1


async def test_without_a_yes_it_is_shown_and_nothing_is_done(places: Paths, tmp_path) -> None:
    before = os.stat(places.database).st_ino
    answered = await run_command(LocalServices(places), "db", "restore", str(tmp_path / "copy.db"))
    assert answered.status == 2
    assert [line[0] for line in answered.question.splitlines()] == ["-", "+", "p"]
    assert os.stat(places.database).st_ino == before


async def test_with_a_yes_the_copy_takes_the_place_and_the_old_one_is_kept(places: Paths, tmp_path) -> None:
    before = os.stat(places.database).st_ino
    data = (
        await run_command(LocalServices(places), "robot", "db", "restore", str(tmp_path / "copy.db"), "--yes")
    ).envelope["data"]
    assert os.stat(data["kept"]).st_ino == before
    assert os.stat(places.database).st_ino != before
    assert lock_file.read_lock_holder(places.daemon_lock) is None


async def test_while_a_daemon_runs_it_is_refused(places: Paths, tmp_path) -> None:
    held = lock_file.acquire_lock(places.daemon_lock)
    answered = await run_command(LocalServices(places), "robot", "db", "restore", str(tmp_path / "copy.db"), "--yes")
    assert (answered.status, answered.envelope["error"]["code"]) == (75, "reserved")
    assert "visor down" in answered.envelope["hint"]
    os.close(held or -1)


async def test_what_the_other_process_refuses_is_told_in_its_words(places: Paths, tmp_path) -> None:
    answered = await run_command(LocalServices(places), "robot", "db", "restore", str(tmp_path / "none.db"), "--yes")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")
    assert answered.envelope["error"]["message"] == f"there is no copy of a database in {tmp_path}/none.db"


async def test_without_a_file_the_last_snapshot_is_meant(places: Paths, tmp_path) -> None:
    os.rename(tmp_path / "copy.db", places.snapshot_file)
    data = (await run_command(LocalServices(places), "robot", "db", "restore", "--yes")).envelope["data"]
    assert data["restored_from"] == places.snapshot_file
