import os
import stat

import pytest

from termvisor.clock import SystemClock
from termvisor.errors import Conflict, StorageError
from termvisor.store import Store
from termvisor.store.maintenance.backup import claimed, contents_of


async def test_a_copy_is_private_whole_and_alone(store, new_pane, write_lines, tmp_path):
    pane = await new_pane()
    await write_lines(pane, "one", "two")
    path = str(tmp_path / "copies.db")
    size, contents = await store.keeping.copy(path)
    assert (contents.panes, contents.lines, contents.events) == (1, 2, 0)
    assert size == os.stat(path).st_size
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["copies.db", "visor.db", "visor.db-shm", "visor.db-wal"]
    again = await Store.open(path, SystemClock())
    assert [line.text for line in await again.output.lines(pane)] == ["one", "two"]
    assert await again.check(thorough=True) == "ok"
    await again.close()


async def test_what_is_written_after_it_is_not_in_the_copy(store, new_pane, write_lines, tmp_path):
    pane = await new_pane()
    await write_lines(pane, "before")
    await store.keeping.copy(str(tmp_path / "copy.db"))
    await write_lines(pane, "after")
    assert contents_of(str(tmp_path / "copy.db")).lines == 1


async def test_an_existing_file_is_never_replaced(store, tmp_path):
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(Conflict, match="already"):
        await store.keeping.copy(str(tmp_path / "mine"))
    assert (tmp_path / "mine").read_text() == "precious"


async def test_a_failed_copy_leaves_nothing(store, tmp_path):
    (tmp_path / "copy.db.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match=r"copy\.db"):
        await store.keeping.copy(str(tmp_path / "copy.db"))
    assert not (tmp_path / "copy.db").exists()
    with pytest.raises(StorageError, match="No such file"):
        await store.keeping.copy(str(tmp_path / "nowhere" / "copy.db"))


async def test_a_snapshot_takes_the_place_of_the_one_before(store, new_pane, write_lines, tmp_path):
    path = str(tmp_path / "snapshot.db")
    await store.keeping.snapshot(path)
    await write_lines(await new_pane(), "more")
    (tmp_path / "snapshot.db.new").write_text("left by a killed process")
    assert await store.keeping.snapshot(path) == os.stat(path).st_size
    assert contents_of(path).lines == 1


def test_a_name_is_taken_before_the_work_begins(tmp_path):
    assert claimed(str(tmp_path / "x.db")).endswith("x.db.part")
    with pytest.raises(Conflict):
        claimed(str(tmp_path / "x.db"))
