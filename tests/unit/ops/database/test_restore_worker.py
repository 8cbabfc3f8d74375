import os

import pytest

from termvisor.clock import SystemClock
from termvisor.errors import BadRequest, Conflict
from termvisor.ops.database._restore_worker import exchanged, no_daemon
from termvisor.settings import Places, prepare
from termvisor.store import Store
from termvisor.system import lock_file as lock


@pytest.fixture
def places(tmp_path) -> Places:
    where = Places(*(str(tmp_path / name) for name in ("config", "data", "run")))
    prepare(where)
    return where


async def test_a_copy_is_weighed_and_put_in_place_by_another_process(places: Places, tmp_path) -> None:
    store = await Store.open(places.database, SystemClock())
    await store.keeping.copy(str(tmp_path / "copy.db"))
    await store.close()
    weighed = await exchanged(places, str(tmp_path / "copy.db"), is_dry_run=True)
    assert (weighed.kept, weighed.present) == (None, weighed.backup)
    done = await exchanged(places, str(tmp_path / "copy.db"))
    assert os.path.exists(done.kept or "")


async def test_its_complaint_is_ours(places: Places) -> None:
    with pytest.raises(BadRequest, match="there is no copy"):
        await exchanged(places, "/nowhere/copy.db")


def test_no_daemon_starts_meanwhile_and_none_may_run(places: Places) -> None:
    with no_daemon(places):
        assert lock.take(places.daemon_lock) is None
        with pytest.raises(Conflict, match=f"pid {os.getpid()}"), no_daemon(places):
            pass
    assert lock.holder(places.daemon_lock) is None
