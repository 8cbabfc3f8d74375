"""inotify on real folders."""

import errno
import os
from pathlib import Path

import pytest

from termvisor.system import inotify
from termvisor.system.inotify import ARRIVAL_EVENTS, CHANGE_EVENTS, FolderChange, Inotify
from tests.unit.wait_until import wait_until


@pytest.fixture
async def folder_watch():
    made = Inotify()
    yield made
    made.close()


async def test_every_change_in_a_folder_is_reported_with_its_name(folder_watch, tmp_path):
    received: list[FolderChange] = []
    folder_watch.watch_folder(str(tmp_path), CHANGE_EVENTS, received.append)
    (tmp_path / "one").write_text("text")
    (tmp_path / "below").mkdir()
    os.rename(tmp_path / "one", tmp_path / "two")
    os.remove(tmp_path / "two")
    await wait_until(lambda: received[-2:] == [FolderChange("two"), FolderChange("two")])
    assert received[0] == FolderChange("one")
    assert FolderChange("below", is_folder=True) in received


async def test_a_watch_gets_only_the_events_of_its_mask(folder_watch, tmp_path):
    arrivals: list[FolderChange] = []
    changes: list[FolderChange] = []
    (tmp_path / "old").touch()
    folder_watch.watch_folder(str(tmp_path), CHANGE_EVENTS, changes.append)
    folder_watch.watch_folder(str(tmp_path), ARRIVAL_EVENTS, arrivals.append)
    (tmp_path / "old").write_text("text")
    (tmp_path / "fresh").touch()
    await wait_until(lambda: FolderChange("fresh") in changes and arrivals)
    assert FolderChange("old") in changes
    assert arrivals == [FolderChange("fresh")]


async def test_the_last_unwatch_removes_the_kernel_watch(folder_watch, tmp_path):
    received: list[FolderChange] = []
    others: list[FolderChange] = []
    first, other = (folder_watch.watch_folder(str(tmp_path), CHANGE_EVENTS, each.append) for each in (received, others))
    assert first.watch_id == other.watch_id
    folder_watch.unwatch_folder(first)
    (tmp_path / "file").touch()
    await wait_until(lambda: others)
    assert received == []
    folder_watch.unwatch_folder(other)
    folder_watch.unwatch_folder(other)
    assert folder_watch._watches_by_id == {}


@pytest.mark.parametrize("end", [lambda folder: folder.rmdir(), lambda folder: folder.rename(f"{folder}-moved")])
async def test_a_removed_folder_is_reported_once(folder_watch, tmp_path, end):
    received: list[FolderChange] = []
    folder = tmp_path / "folder"
    folder.mkdir()
    folder_watch.watch_folder(str(folder), CHANGE_EVENTS, received.append)
    end(folder)
    await wait_until(lambda: received)
    assert received == [FolderChange()]
    folder.mkdir()
    again = folder_watch.watch_folder(str(folder), CHANGE_EVENTS, received.append)
    (folder / "file").touch()
    await wait_until(lambda: FolderChange("file") in received)
    assert list(folder_watch._watches_by_id) == [again.watch_id]


async def test_an_overflow_notifies_all_watches(folder_watch, tmp_path):
    received: list[FolderChange] = []
    folder_watch.watch_folder(str(tmp_path), CHANGE_EVENTS, received.append)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with (tmp_path / "a").open("wb", buffering=0) as one, (tmp_path / "b").open("wb", buffering=0) as other:
        # In turn, because the kernel merges equal events in a row. Nothing reads them before the loop runs again.
        for _ in range(limit // 2 + 1):
            one.write(b"x")
            other.write(b"x")
    await wait_until(lambda: folder_watch.overflows)
    assert FolderChange() in received


async def test_a_folder_that_cannot_be_watched_raises(folder_watch, tmp_path):
    with pytest.raises(FileNotFoundError):
        folder_watch.watch_folder(str(tmp_path / "missing"), CHANGE_EVENTS, print)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        folder_watch.watch_folder(str(tmp_path / "file"), CHANGE_EVENTS, print)


async def test_a_system_without_inotify_is_an_error(monkeypatch):
    monkeypatch.setattr(inotify.ctypes, "CDLL", lambda *_, **__: object())
    with pytest.raises(OSError, match="no inotify") as raised:
        Inotify()
    assert raised.value.errno == errno.ENOSYS
