import os

import pytest

from termvisor.clock import SystemClock
from termvisor.errors import BadRequest, Conflict
from termvisor.ops.database._restore_worker import exchange_database, hold_daemon_lock
from termvisor.settings import Paths, make_instance_folders
from termvisor.store import Store
from termvisor.system import lock_file


@pytest.fixture
def places(tmp_path) -> Paths:
    where = Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))
    make_instance_folders(where)
    return where


async def test_a_backup_is_compared_and_restored_by_the_worker(places: Paths, tmp_path) -> None:
    store = await Store.open(places.database, SystemClock())
    await store.maintenance.write_backup(str(tmp_path / "copy.db"))
    await store.close()
    weighed = await exchange_database(places, str(tmp_path / "copy.db"), is_dry_run=True)
    assert (weighed.kept, weighed.present) == (None, weighed.backup)
    done = await exchange_database(places, str(tmp_path / "copy.db"))
    assert os.path.exists(done.kept or "")


async def test_errors_of_the_worker_are_raised(places: Paths) -> None:
    with pytest.raises(BadRequest, match="is missing or empty"):
        await exchange_database(places, "/nowhere/copy.db")


def test_no_daemon_starts_meanwhile_and_none_may_run(places: Paths) -> None:
    with hold_daemon_lock(places):
        assert lock_file.acquire_lock(places.daemon_lock) is None
        with pytest.raises(Conflict, match=f"pid {os.getpid()}"), hold_daemon_lock(places):
            pass
    assert lock_file.read_lock_holder(places.daemon_lock) is None
