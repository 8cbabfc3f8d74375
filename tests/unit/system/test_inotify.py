"""Real inotify on real folders."""

import errno
import os
from pathlib import Path

import pytest

from termvisor.system import inotify
from termvisor.system.inotify import ARRIVALS, CHANGES, Inotify, Stir
from tests.unit.waiting import until


@pytest.fixture
async def ear():
    made = Inotify()
    yield made
    made.close()


async def test_every_change_in_a_folder_is_told_with_its_name(ear, tmp_path):
    told: list[Stir] = []
    ear.hear(str(tmp_path), CHANGES, told.append)
    (tmp_path / "one").write_text("text")
    (tmp_path / "below").mkdir()
    os.rename(tmp_path / "one", tmp_path / "two")
    os.remove(tmp_path / "two")
    await until(lambda: told[-2:] == [Stir("two"), Stir("two")])
    assert told[0] == Stir("one")
    assert Stir("below", is_folder=True) in told


async def test_who_waits_for_arrivals_is_not_told_of_writes_though_another_is(ear, tmp_path):
    arrivals: list[Stir] = []
    changes: list[Stir] = []
    (tmp_path / "old").touch()
    ear.hear(str(tmp_path), CHANGES, changes.append)
    ear.hear(str(tmp_path), ARRIVALS, arrivals.append)
    (tmp_path / "old").write_text("text")
    (tmp_path / "fresh").touch()
    await until(lambda: Stir("fresh") in changes and arrivals)
    assert Stir("old") in changes
    assert arrivals == [Stir("fresh")]


async def test_who_leaves_is_told_no_more_and_the_last_one_takes_the_watch_along(ear, tmp_path):
    told: list[Stir] = []
    others: list[Stir] = []
    hearing, other = (ear.hear(str(tmp_path), CHANGES, each.append) for each in (told, others))
    assert hearing.number == other.number
    ear.leave(hearing)
    (tmp_path / "file").touch()
    await until(lambda: others)
    assert told == []
    ear.leave(other)
    ear.leave(other)
    assert ear._hearings == {}


@pytest.mark.parametrize("end", [lambda folder: folder.rmdir(), lambda folder: folder.rename(f"{folder}-moved")])
async def test_a_folder_that_goes_away_is_told_once_and_heard_no_more(ear, tmp_path, end):
    told: list[Stir] = []
    folder = tmp_path / "folder"
    folder.mkdir()
    ear.hear(str(folder), CHANGES, told.append)
    end(folder)
    await until(lambda: told)
    assert told == [Stir()]
    folder.mkdir()
    again = ear.hear(str(folder), CHANGES, told.append)
    (folder / "file").touch()
    await until(lambda: Stir("file") in told)
    assert list(ear._hearings) == [again.number]


async def test_when_the_kernel_lost_count_everybody_looks_at_everything(ear, tmp_path):
    told: list[Stir] = []
    ear.hear(str(tmp_path), CHANGES, told.append)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(limit // 2 + 1):
        (tmp_path / str(number % 2)).write_bytes(b"x")
    await until(lambda: ear.overflows)
    assert Stir() in told


async def test_what_cannot_be_heard_is_an_error(ear, tmp_path):
    with pytest.raises(FileNotFoundError):
        ear.hear(str(tmp_path / "missing"), CHANGES, print)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        ear.hear(str(tmp_path / "file"), CHANGES, print)


async def test_a_system_without_inotify_is_an_error(monkeypatch):
    monkeypatch.setattr(inotify.ctypes, "CDLL", lambda *_, **__: object())
    with pytest.raises(OSError, match="no inotify") as raised:
        Inotify()
    assert raised.value.errno == errno.ENOSYS
