"""Real files, read by one daemon after another; what the first one stored is all that the next one knows."""

import os

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import read_positions
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.clock import SystemClock
from termvisor.model.agent.read_position import ReadPosition
from termvisor.model.ids import RuntimeId


class Shelf:
    """``body`` is what was stored last."""

    def __init__(self, folder, **more):
        self.watch = WatchedPath(source="transcript", kind="lines", folder=str(folder), pattern="*.jsonl", **more)
        self.body = b""
        self.has_room = True

    def keep(self, bookmark: ReadPosition) -> bool:
        if self.has_room:
            self.body = bookmark.body
        return self.has_room

    def daemon(self) -> AppendedLinesReader:
        return AppendedLinesReader(
            self.watch, SystemClock(), ReadPositions(RuntimeId(1), "transcript", self.body, self.keep)
        )

    def look(self, reader: AppendedLinesReader, paths=None) -> list[str]:
        found = reader.scan(paths).records
        for record in found:
            self.body = record.bookmark.body if record.bookmark else self.body
        reader.confirm_stored()
        return [record.text for record in found]


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


def age(path, seconds: int) -> None:
    at = os.stat(path).st_mtime - seconds
    os.utime(path, (at, at))


def test_what_is_added_while_no_daemon_runs_is_read_by_the_next_one_and_nothing_twice(tmp_path):
    log, quiet = tmp_path / "a.jsonl", tmp_path / "quiet.jsonl"
    log.write_text("long before\n")
    quiet.write_text("long before\n")
    shelf = Shelf(tmp_path)
    first = shelf.daemon()
    assert shelf.look(first) == []
    append(log, "heard\nhal")
    assert shelf.look(first, [str(log)]) == ["heard"]
    append(log, "f\nmeanwhile\n")
    append(quiet, "meanwhile, too\n")
    second = shelf.daemon()
    assert sorted(shelf.look(second)) == ["half", "meanwhile", "meanwhile, too"]
    assert shelf.look(second) == shelf.look(shelf.daemon()) == []


def test_files_that_came_while_no_daemon_ran_are_read_from_their_start(tmp_path):
    shelf = Shelf(tmp_path / "later")
    assert shelf.look(shelf.daemon()) == []
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "new.jsonl").write_text("hello\n")
    assert shelf.look(shelf.daemon()) == ["hello"]


def test_a_file_that_was_written_anew_meanwhile_is_read_from_its_start(tmp_path):
    log = tmp_path / "a.jsonl"
    log.write_text("one\ntwo\n")
    shelf = Shelf(tmp_path)
    shelf.look(shelf.daemon())
    log.write_text("ONE\nTWO\nthree\n")
    assert shelf.look(shelf.daemon()) == ["ONE", "TWO", "three"]


def test_what_a_daemon_read_and_could_not_store_is_read_again(tmp_path):
    log = tmp_path / "a.jsonl"
    log.write_text("before\n")
    shelf = Shelf(tmp_path)
    first = shelf.daemon()
    shelf.look(first)
    append(log, "lost\n")
    first.scan([str(log)])
    assert shelf.look(shelf.daemon()) == ["lost"]


def test_a_place_that_was_refused_is_kept_with_the_next_look(tmp_path):
    (tmp_path / "a.jsonl").write_text("before\n")
    shelf = Shelf(tmp_path)
    shelf.has_room = False
    reader = shelf.daemon()
    shelf.look(reader)
    assert not shelf.body
    shelf.has_room = True
    shelf.look(reader)
    append(tmp_path / "a.jsonl", "after\n")
    assert shelf.look(shelf.daemon()) == ["after"]


def test_of_many_files_the_last_are_known_and_the_others_begin_at_their_end_where_they_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(read_positions, "_MAX_FILES", 2)
    for number in range(4):
        (tmp_path / f"{number}.jsonl").write_text("before\n")
        age(tmp_path / f"{number}.jsonl", 100 - number)
    shelf = Shelf(tmp_path)
    shelf.look(shelf.daemon())
    append(tmp_path / "3.jsonl", "after\n")
    assert shelf.look(shelf.daemon()) == ["after"]


def test_a_log_that_is_wanted_from_its_start_is_not_read_again_by_the_next_daemon(tmp_path):
    (tmp_path / "a.jsonl").write_text("one\n")
    shelf = Shelf(tmp_path, from_start=True)
    assert shelf.look(shelf.daemon()) == ["one"]
    assert shelf.look(shelf.daemon()) == []


def test_a_bookmark_that_cannot_be_read_is_none(tmp_path):
    (tmp_path / "a.jsonl").write_text("before\n")
    shelf = Shelf(tmp_path)
    shelf.body = b"\xc1"
    assert shelf.look(shelf.daemon()) == []
    assert shelf.body != b"\xc1"
