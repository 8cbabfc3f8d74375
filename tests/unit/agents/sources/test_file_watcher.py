"""One listener on real folders: heard at once, looked at where it cannot be heard, mended when it breaks."""

import errno
import os

import pytest

from termvisor.agents.adapters.adapter import Watch
from termvisor.agents.sources import file_watcher as listener
from termvisor.agents.sources.appended_lines import LinesReader
from termvisor.system.inotify import Inotify
from tests.unit.waiting import until


def watch(folder, kind: str = "lines", name: str = "*.jsonl", **more) -> Watch:
    return Watch(source="transcript", kind=kind, folder=str(folder), pattern=name, **more)


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


@pytest.fixture
def quick(monkeypatch):
    """What could not be heard is looked at without waiting for a second."""
    monkeypatch.setattr(listener, "_POLL", 0.01)


async def test_a_change_is_heard_without_looking_around(desk, tmp_path, monkeypatch):
    monkeypatch.setattr(listener, "_SURELY", 3600.0)
    desk.listening.watch("a", [watch(tmp_path)])
    desk.run()
    await desk.status("quiet")
    append(tmp_path / "a.jsonl", "one\n")
    await desk.read("one")
    append(tmp_path / "a.jsonl", "tw")
    append(tmp_path / "a.jsonl", "o\nthree\n")
    await desk.read("one", "two", "three")
    (health,) = desk.listening.health()
    assert (health.status, health.records, health.detail) == ("well", 3, "")
    assert health.heard_at == pytest.approx(desk.records[-1].at, abs=10**10)


async def test_a_folder_that_is_missing_is_heard_as_soon_as_it_comes_and_comes_back(desk, tmp_path):
    folder = tmp_path / "not" / "yet"
    desk.listening.watch("a", [watch(folder, is_deep=True)])
    desk.run()
    await desk.status("absent")
    (tmp_path / "unrelated").touch()
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text("one\n")
    await desk.read("one")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.jsonl").write_text("two\n")
    await desk.read("one", "two")
    os.rename(folder, tmp_path / "gone")
    await desk.status("absent")
    folder.mkdir()
    (folder / "c.jsonl").write_text("three\n")
    await desk.read("one", "two", "three")


async def test_secrets_do_not_get_through(desk, tmp_path):
    desk.listening.watch("a", [watch(tmp_path)])
    desk.run()
    await desk.status("quiet")
    append(tmp_path / "a.jsonl", '{"command":"export PASSWORD=hunter22"}\n')
    await desk.read('{"command":"export PASSWORD=[redacted:password_assignment]"}')


async def test_where_no_watch_is_left_it_is_looked_at_and_health_says_so(desk, tmp_path, monkeypatch, quick):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Inotify, "hear", full)
    desk.listening.watch("a", [watch(tmp_path)])
    desk.run()
    await desk.status("quiet")
    append(tmp_path / "a.jsonl", "one\n")
    await desk.read("one")
    (health,) = desk.listening.health()
    assert health.detail == "looked at every second: no inotify watch is left (fs.inotify.max_user_watches)"
    monkeypatch.undo()
    await until(lambda: desk.listening.health()[0].detail == "")
    append(tmp_path / "a.jsonl", "two\n")
    await desk.read("one", "two")


async def test_what_could_not_be_stored_is_handed_on_again_and_nothing_is_lost(desk, tmp_path):
    desk.listening.watch("a", [watch(tmp_path)])
    desk.run()
    await desk.status("quiet")
    desk.refusals.append(RuntimeError("the database is busy"))
    append(tmp_path / "a.jsonl", "one\n")
    await desk.status("down")
    assert desk.listening.health()[0].detail == "the database is busy"
    append(tmp_path / "a.jsonl", "two\n")
    await desk.read("one", "two")
    await desk.status("well")


async def test_a_reader_that_fails_is_tried_again_and_mended(desk, tmp_path, monkeypatch):
    honest, failures = LinesReader.look, [OSError(errno.EIO, "Input/output error"), RuntimeError()]

    def look(self, paths):
        if failures:
            raise failures.pop()
        return honest(self, paths)

    monkeypatch.setattr(LinesReader, "look", look)
    desk.listening.watch("a", [watch(tmp_path, from_start=True)])
    (tmp_path / "a.jsonl").write_text("one\n")
    desk.run()
    await desk.status("down")
    await desk.read("one")
    assert failures == []


async def test_everything_is_looked_at_once_in_a_while_though_nothing_was_heard(desk, tmp_path, monkeypatch):
    monkeypatch.setattr(listener, "_SURELY", 0.01)
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "a.jsonl").write_text("one\n")
    (tmp_path / "link").symlink_to(tmp_path / "first")
    desk.listening.watch("a", [watch(tmp_path / "link")])
    desk.run()
    await desk.status("quiet")
    os.symlink(tmp_path / "second", tmp_path / "turned")
    os.replace(tmp_path / "turned", tmp_path / "link")
    await desk.read("one")
    monkeypatch.setattr(listener, "_SURELY", 3600.0)
    append(tmp_path / "second" / "a.jsonl", "two\n")
    await desk.read("one", "two")
