"""Many watches and the spool, heard side by side."""

import asyncio
import os

import pytest

from termvisor.agents.adapters.adapter import Watch
from termvisor.agents.sources import source_watcher as listening
from termvisor.agents.sources.appended_lines import LinesReader
from termvisor.agents.sources.hook_spool import Mark, Spool
from termvisor.model.agent.signal import Hint
from tests.unit.waiting import until


def lines(folder, **more) -> Watch:
    return Watch(source="transcript", kind="lines", folder=str(folder), pattern="*.jsonl", **more)


def files(folder, name: str = "*.json", **more) -> Watch:
    return Watch(source="registry", kind="files", folder=str(folder), pattern=name, **more)


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


async def test_files_lines_and_hooks_are_heard_together(desk, tmp_path):
    desk.open(Spool(str(tmp_path / "spool"), Mark(), desk.clock))
    desk.listening.watch("a", [lines(tmp_path), files(tmp_path, hint=Hint(pid=7))], agent="codex")
    desk.run()
    await desk.status("quiet", "quiet", "quiet")
    append(tmp_path / "a.jsonl", "line\n")
    (tmp_path / "a.json").write_text('{"status":"busy"}')
    append(tmp_path / "spool" / "hooks.jsonl", '{"v":1,"agent":"codex","event":"Stop"}\n')
    await until(lambda: len(desk.records) == 3)
    assert {record.source: record.hint.pid for record in desk.records} == {"transcript": 0, "registry": 7, "hook": 0}
    assert [(one.agent, one.source) for one in desk.listening.health()] == [
        ("", "hook"),
        ("codex", "transcript"),
        ("codex", "registry"),
    ]


async def test_watches_come_and_go_while_it_runs(desk, tmp_path):
    desk.run()
    desk.listening.watch("a", [files(tmp_path, "1.json")])
    desk.listening.watch("b", [files(tmp_path, "2.json")])
    (tmp_path / "1.json").write_text("1")
    await desk.read("1")
    desk.listening.unwatch("a")
    desk.listening.unwatch("never watched")
    (tmp_path / "1.json").write_text("3")
    (tmp_path / "2.json").write_text("2")
    await desk.read("1", "2")
    assert [one.where for one in desk.listening.health()] == [f"{tmp_path}/2.json"]
    await until(lambda: desk.listening._tasks.keys() == desk.listening._listeners.keys())


async def test_a_watch_that_is_named_again_goes_on_where_it_was(desk, tmp_path):
    (tmp_path / "a.jsonl").write_text("one\n")
    first = lines(tmp_path, from_start=True)
    desk.run()
    desk.listening.watch("a", [first])
    await desk.read("one")
    desk.listening.watch("a", [first, files(tmp_path)])
    (tmp_path / "a.json").write_text("2")
    await desk.read("one", "2")
    assert desk.listening.health()[0].records == 1


async def test_a_broken_watch_disturbs_no_other(desk, tmp_path, monkeypatch):
    honest = LinesReader.look

    def look(self, paths):
        if self.where.startswith(str(tmp_path / "bad")):
            raise RuntimeError("broken")
        return honest(self, paths)

    monkeypatch.setattr(LinesReader, "look", look)
    for name in ("bad", "good"):
        (tmp_path / name).mkdir()
        desk.listening.watch(name, [lines(tmp_path / name)])
    desk.run()
    await desk.status("down", "quiet")
    append(tmp_path / "good" / "a.jsonl", "fine\n")
    await desk.read("fine")
    assert desk.listening.health()[0].detail == "broken"


async def test_records_are_handed_on_one_list_at_a_time(desk, tmp_path):
    inside = 0

    async def heard(records):
        nonlocal inside
        inside += 1
        assert inside == 1
        await asyncio.sleep(0)
        inside -= 1
        desk.records += records

    desk.listening = listening.Listening(heard, desk.clock)
    for number in range(5):
        (tmp_path / f"{number}.json").write_text(str(number))
        desk.listening.watch(number, [files(tmp_path, f"{number}.json")])
    desk.run()
    await until(lambda: sorted(desk.texts) == list("01234"))


async def test_without_inotify_all_is_looked_at(desk, tmp_path, monkeypatch):
    def none_left():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(listening, "Inotify", none_left)
    desk.listening.watch("a", [files(tmp_path)])
    desk.run()
    await desk.status("quiet")
    (tmp_path / "a.json").write_text("1")
    await desk.read("1")
    assert "looked at every second" in desk.listening.health()[0].detail


@pytest.mark.parametrize("rounds", [2])
async def test_after_the_end_nothing_is_left_open_and_it_can_run_again(desk, tmp_path, rounds):
    desk.listening.watch("a", [files(tmp_path)])
    before = len(os.listdir("/proc/self/fd"))
    for number in range(rounds):
        desk.run()
        (tmp_path / "a.json").write_text(str(number))
        await until(lambda number=number: len(desk.records) == number + 1)
        await desk.close()
    assert len(os.listdir("/proc/self/fd")) == before
