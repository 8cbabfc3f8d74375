"""Real files read by one daemon after another, from the stored read positions."""

import os

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import read_positions
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.clock import SystemClock
from termvisor.model.agent.signal import ReadPosition
from termvisor.model.ids import RuntimeId


class PositionStore:
    """Keeps the last stored position in ``body``."""

    def __init__(self, folder, **more):
        self.watch = WatchedPath(source="transcript", kind="lines", folder=str(folder), pattern="*.jsonl", **more)
        self.body = b""
        self.has_room = True

    def store_position(self, bookmark: ReadPosition) -> bool:
        if self.has_room:
            self.body = bookmark.body
        return self.has_room

    def start_daemon(self) -> AppendedLinesReader:
        return AppendedLinesReader(
            self.watch, SystemClock(), ReadPositions(RuntimeId(1), "transcript", self.body, self.store_position)
        )

    def scan(self, reader: AppendedLinesReader, paths=None) -> list[str]:
        found = reader.scan(paths).records
        for record in found:
            self.body = record.bookmark.body if record.bookmark else self.body
        reader.confirm_stored()
        return [record.text for record in found]


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


def make_older(path, seconds: int) -> None:
    at = os.stat(path).st_mtime - seconds
    os.utime(path, (at, at))


def test_lines_added_without_a_daemon_are_read_by_the_next_once(tmp_path):
    log, quiet = tmp_path / "a.jsonl", tmp_path / "quiet.jsonl"
    log.write_text("long before\n")
    quiet.write_text("long before\n")
    store = PositionStore(tmp_path)
    first = store.start_daemon()
    assert store.scan(first) == []
    append(log, "heard\nhal")
    assert store.scan(first, [str(log)]) == ["heard"]
    append(log, "f\nmeanwhile\n")
    append(quiet, "meanwhile, too\n")
    second = store.start_daemon()
    assert sorted(store.scan(second)) == ["half", "meanwhile", "meanwhile, too"]
    assert store.scan(second) == store.scan(store.start_daemon()) == []


def test_files_created_without_a_daemon_are_read_from_their_start(tmp_path):
    store = PositionStore(tmp_path / "later")
    assert store.scan(store.start_daemon()) == []
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "new.jsonl").write_text("hello\n")
    assert store.scan(store.start_daemon()) == ["hello"]


def test_a_rewritten_file_is_read_from_its_start(tmp_path):
    log = tmp_path / "a.jsonl"
    log.write_text("one\ntwo\n")
    store = PositionStore(tmp_path)
    store.scan(store.start_daemon())
    log.write_text("ONE\nTWO\nthree\n")
    assert store.scan(store.start_daemon()) == ["ONE", "TWO", "three"]


def test_lines_that_were_not_stored_are_read_again(tmp_path):
    log = tmp_path / "a.jsonl"
    log.write_text("before\n")
    store = PositionStore(tmp_path)
    first = store.start_daemon()
    store.scan(first)
    append(log, "lost\n")
    first.scan([str(log)])
    assert store.scan(store.start_daemon()) == ["lost"]


def test_a_refused_position_is_stored_with_the_next_scan(tmp_path):
    (tmp_path / "a.jsonl").write_text("before\n")
    store = PositionStore(tmp_path)
    store.has_room = False
    reader = store.start_daemon()
    store.scan(reader)
    assert not store.body
    store.has_room = True
    store.scan(reader)
    append(tmp_path / "a.jsonl", "after\n")
    assert store.scan(store.start_daemon()) == ["after"]


def test_only_the_latest_files_have_positions_and_others_start_at_their_end(tmp_path, monkeypatch):
    monkeypatch.setattr(read_positions, "_MAX_FILES", 2)
    for number in range(4):
        (tmp_path / f"{number}.jsonl").write_text("before\n")
        make_older(tmp_path / f"{number}.jsonl", 100 - number)
    store = PositionStore(tmp_path)
    store.scan(store.start_daemon())
    append(tmp_path / "3.jsonl", "after\n")
    assert store.scan(store.start_daemon()) == ["after"]


def test_a_file_read_from_its_start_is_not_read_again_by_the_next_daemon(tmp_path):
    (tmp_path / "a.jsonl").write_text("one\n")
    store = PositionStore(tmp_path, from_start=True)
    assert store.scan(store.start_daemon()) == ["one"]
    assert store.scan(store.start_daemon()) == []


def test_an_unreadable_position_is_ignored(tmp_path):
    (tmp_path / "a.jsonl").write_text("before\n")
    store = PositionStore(tmp_path)
    store.body = b"\xc1"
    assert store.scan(store.start_daemon()) == []
    assert store.body != b"\xc1"
