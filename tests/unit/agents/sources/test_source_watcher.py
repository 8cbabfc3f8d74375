"""Several watches and the hook spool together."""

import asyncio
import os

import pytest

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import source_watcher
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.model.agent.signal import ProcessHint
from tests.unit.wait_until import wait_until


def watch_lines(folder, **more) -> WatchedPath:
    return WatchedPath(source="transcript", kind="lines", folder=str(folder), pattern="*.jsonl", **more)


def watch_files(folder, name: str = "*.json", **more) -> WatchedPath:
    return WatchedPath(source="registry", kind="files", folder=str(folder), pattern=name, **more)


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


async def test_files_lines_and_hooks_are_read_together(watcher_scene, tmp_path):
    watcher_scene.build_watcher(HookSpool(str(tmp_path / "spool"), SpoolPosition(), watcher_scene.clock))
    watcher_scene.watcher.watch(
        "a", [watch_lines(tmp_path), watch_files(tmp_path, hint=ProcessHint(pid=7))], agent="codex"
    )
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet", "quiet", "quiet")
    append(tmp_path / "a.jsonl", "line\n")
    (tmp_path / "a.json").write_text('{"status":"busy"}')
    append(tmp_path / "spool" / "hooks.jsonl", '{"v":1,"agent":"codex","event":"Stop"}\n')
    await wait_until(lambda: len(watcher_scene.records) == 3)
    assert {record.source: record.hint.pid for record in watcher_scene.records} == {
        "transcript": 0,
        "registry": 7,
        "hook": 0,
    }
    assert [(one.agent, one.source) for one in watcher_scene.watcher.list_health()] == [
        ("", "hook"),
        ("codex", "transcript"),
        ("codex", "registry"),
    ]


async def test_no_watch_replaces_the_hook_spool(watcher_scene, tmp_path):
    watcher_scene.build_watcher(HookSpool(str(tmp_path / "spool"), SpoolPosition(), watcher_scene.clock))
    watcher_scene.watcher.watch(0, [watch_lines(tmp_path)])
    watcher_scene.watcher.unwatch(0)
    assert [one.source for one in watcher_scene.watcher.list_health()] == ["hook"]


async def test_watches_can_change_while_it_runs(watcher_scene, tmp_path):
    watcher_scene.run()
    watcher_scene.watcher.watch("a", [watch_files(tmp_path, "1.json")])
    watcher_scene.watcher.watch("b", [watch_files(tmp_path, "2.json")])
    (tmp_path / "1.json").write_text("1")
    await watcher_scene.wait_for_texts("1")
    watcher_scene.watcher.unwatch("a")
    watcher_scene.watcher.unwatch("never watched")
    (tmp_path / "1.json").write_text("3")
    (tmp_path / "2.json").write_text("2")
    await watcher_scene.wait_for_texts("1", "2")
    assert [one.where for one in watcher_scene.watcher.list_health()] == [f"{tmp_path}/2.json"]
    await wait_until(lambda: watcher_scene.watcher._tasks.keys() == watcher_scene.watcher._file_watchers.keys())


async def test_a_repeated_watch_continues_where_it_was(watcher_scene, tmp_path):
    (tmp_path / "a.jsonl").write_text("one\n")
    first = watch_lines(tmp_path, from_start=True)
    watcher_scene.run()
    watcher_scene.watcher.watch("a", [first])
    await watcher_scene.wait_for_texts("one")
    watcher_scene.watcher.watch("a", [first, watch_files(tmp_path)])
    (tmp_path / "a.json").write_text("2")
    await watcher_scene.wait_for_texts("one", "2")
    assert watcher_scene.watcher.list_health()[0].records == 1


async def test_a_broken_watch_does_not_affect_others(watcher_scene, tmp_path, monkeypatch):
    real_scan = AppendedLinesReader.scan

    def scan(self, paths):
        if self.where.startswith(str(tmp_path / "bad")):
            raise RuntimeError("broken")
        return real_scan(self, paths)

    monkeypatch.setattr(AppendedLinesReader, "scan", scan)
    for name in ("bad", "good"):
        (tmp_path / name).mkdir()
        watcher_scene.watcher.watch(name, [watch_lines(tmp_path / name)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("down", "quiet")
    append(tmp_path / "good" / "a.jsonl", "fine\n")
    await watcher_scene.wait_for_texts("fine")
    assert watcher_scene.watcher.list_health()[0].detail == "broken"


async def test_batches_are_delivered_one_at_a_time(watcher_scene, tmp_path):
    inside = 0

    async def on_records(records):
        nonlocal inside
        inside += 1
        assert inside == 1
        await asyncio.sleep(0)
        inside -= 1
        watcher_scene.records += records

    watcher_scene.watcher = source_watcher.SourceWatcher(on_records, watcher_scene.clock)
    for number in range(5):
        (tmp_path / f"{number}.json").write_text(str(number))
        watcher_scene.watcher.watch(number, [watch_files(tmp_path, f"{number}.json")])
    watcher_scene.run()
    await wait_until(lambda: sorted(watcher_scene.texts) == list("01234"))


async def test_without_inotify_everything_is_polled(watcher_scene, tmp_path, monkeypatch):
    def raise_too_many_files():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(source_watcher, "Inotify", raise_too_many_files)
    watcher_scene.watcher.watch("a", [watch_files(tmp_path)])
    watcher_scene.run()
    await watcher_scene.wait_for_status("quiet")
    (tmp_path / "a.json").write_text("1")
    await watcher_scene.wait_for_texts("1")
    assert "polled every second" in watcher_scene.watcher.list_health()[0].detail


@pytest.mark.parametrize("rounds", [2])
async def test_after_a_cancel_nothing_is_open_and_it_can_run_again(watcher_scene, tmp_path, rounds):
    watcher_scene.watcher.watch("a", [watch_files(tmp_path)])
    before = len(os.listdir("/proc/self/fd"))
    for number in range(rounds):
        watcher_scene.run()
        (tmp_path / "a.json").write_text(str(number))
        await wait_until(lambda number=number: len(watcher_scene.records) == number + 1)
        await watcher_scene.close()
    assert len(os.listdir("/proc/self/fd")) == before
