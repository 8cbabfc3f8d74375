"""One file watcher on real folders: events, polling, retries."""

import errno
import os

import pytest

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import source_watcher
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.system.inotify import Inotify
from tests.unit.wait_until import wait_until


def build_watch(folder, kind: str = "lines", name: str = "*.jsonl", **more) -> WatchedPath:
    return WatchedPath(source="transcript", kind=kind, folder=str(folder), pattern=name, **more)


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


@pytest.fixture
def quick_polling(monkeypatch):
    """Poll at short intervals."""
    monkeypatch.setattr(source_watcher, "_POLL_INTERVAL_S", 0.01)


async def test_a_change_is_read_without_a_full_scan(watcher_scene, tmp_path, monkeypatch):
    monkeypatch.setattr(source_watcher, "_FULL_SCAN_INTERVAL_S", 3600.0)
    watcher_scene.watcher.watch("a", [build_watch(tmp_path)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet")
    append(tmp_path / "a.jsonl", "one\n")
    await watcher_scene.wait_for_texts("one")
    append(tmp_path / "a.jsonl", "tw")
    append(tmp_path / "a.jsonl", "o\nthree\n")
    await watcher_scene.wait_for_texts("one", "two", "three")
    (health,) = watcher_scene.watcher.list_health()
    assert (health.status, health.records, health.detail) == ("well", 3, "")
    assert health.heard_at == pytest.approx(watcher_scene.records[-1].at, abs=10**10)


async def test_a_missing_folder_is_watched_as_soon_as_it_appears(watcher_scene, tmp_path):
    folder = tmp_path / "not" / "yet"
    watcher_scene.watcher.watch("a", [build_watch(folder, is_deep=True)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("absent")
    (tmp_path / "unrelated").touch()
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text("one\n")
    await watcher_scene.wait_for_texts("one")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.jsonl").write_text("two\n")
    await watcher_scene.wait_for_texts("one", "two")
    os.rename(folder, tmp_path / "gone")
    await watcher_scene.wait_for_status("absent")
    folder.mkdir()
    (folder / "c.jsonl").write_text("three\n")
    await watcher_scene.wait_for_texts("one", "two", "three")


async def test_records_are_redacted(watcher_scene, tmp_path):
    watcher_scene.watcher.watch("a", [build_watch(tmp_path)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet")
    append(tmp_path / "a.jsonl", '{"command":"export PASSWORD=hunter22"}\n')
    await watcher_scene.wait_for_texts('{"command":"export PASSWORD=[redacted:password_assignment]"}')


async def test_without_inotify_watches_it_polls_and_reports_it(watcher_scene, tmp_path, monkeypatch, quick_polling):
    def raise_no_space(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Inotify, "watch_folder", raise_no_space)
    watcher_scene.watcher.watch("a", [build_watch(tmp_path)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet")
    append(tmp_path / "a.jsonl", "one\n")
    await watcher_scene.wait_for_texts("one")
    (health,) = watcher_scene.watcher.list_health()
    assert health.detail == "polled every second: no inotify watch is left (fs.inotify.max_user_watches)"
    monkeypatch.undo()
    await wait_until(lambda: watcher_scene.watcher.list_health()[0].detail == "")
    append(tmp_path / "a.jsonl", "two\n")
    await watcher_scene.wait_for_texts("one", "two")


async def test_undelivered_records_are_delivered_again(watcher_scene, tmp_path):
    watcher_scene.watcher.watch("a", [build_watch(tmp_path)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet")
    watcher_scene.storage_errors.append(RuntimeError("the database is busy"))
    append(tmp_path / "a.jsonl", "one\n")
    await watcher_scene.wait_for_status("down")
    assert watcher_scene.watcher.list_health()[0].detail == "the database is busy"
    append(tmp_path / "a.jsonl", "two\n")
    await watcher_scene.wait_for_texts("one", "two")
    await watcher_scene.wait_for_status("well")


async def test_a_failing_reader_is_retried_and_recovers(watcher_scene, tmp_path, monkeypatch):
    real_scan, failures = AppendedLinesReader.scan, [OSError(errno.EIO, "Input/output error"), RuntimeError()]

    def scan(self, paths):
        if failures:
            raise failures.pop()
        return real_scan(self, paths)

    monkeypatch.setattr(AppendedLinesReader, "scan", scan)
    watcher_scene.watcher.watch("a", [build_watch(tmp_path, from_start=True)])
    (tmp_path / "a.jsonl").write_text("one\n")
    watcher_scene.run()
    await watcher_scene.wait_for_status("down")
    await watcher_scene.wait_for_texts("one")
    assert failures == []


async def test_a_full_scan_runs_without_events(watcher_scene, tmp_path, monkeypatch):
    monkeypatch.setattr(source_watcher, "_FULL_SCAN_INTERVAL_S", 0.01)
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "a.jsonl").write_text("one\n")
    (tmp_path / "link").symlink_to(tmp_path / "first")
    watcher_scene.watcher.watch("a", [build_watch(tmp_path / "link")])
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet")
    os.symlink(tmp_path / "second", tmp_path / "turned")
    os.replace(tmp_path / "turned", tmp_path / "link")
    await watcher_scene.wait_for_texts("one")
    monkeypatch.setattr(source_watcher, "_FULL_SCAN_INTERVAL_S", 3600.0)
    append(tmp_path / "second" / "a.jsonl", "two\n")
    await watcher_scene.wait_for_texts("one", "two")
