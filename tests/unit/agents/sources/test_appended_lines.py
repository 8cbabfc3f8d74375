"""Lines appended to real files, one scan at a time."""

import os

import pytest

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import appended_lines, tail
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.clock import SystemClock
from termvisor.model.agent.signal import ProcessHint


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("before\n")
    return path


def build_reader(folder, **more) -> AppendedLinesReader:
    watch = WatchedPath(
        source="transcript", kind="lines", folder=str(folder), pattern="*.jsonl", hint=ProcessHint(pid=7), **more
    )
    return AppendedLinesReader(watch, SystemClock())


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


def list_texts(result) -> list[str]:
    return [record.text for record in result.records]


def test_existing_lines_are_read_only_with_from_start(log, tmp_path):
    new, all_of_it = build_reader(tmp_path), build_reader(tmp_path, from_start=True)
    assert list_texts(new.scan(None)) == []
    assert list_texts(all_of_it.scan(None)) == ["before"]
    append(log, "after\n")
    assert list_texts(new.scan([str(log)])) == list_texts(all_of_it.scan(None)) == ["after"]


def test_a_record_has_its_path_and_hint(log, tmp_path):
    (record,) = build_reader(tmp_path, from_start=True).scan(None).records
    assert (record.source, record.path, record.hint.pid) == ("transcript", str(log), 7)
    assert (record.seq, record.life) == (None, 0)


def test_the_event_id_depends_on_the_line_only(log, tmp_path):
    append(log, "before\n")
    first, second = build_reader(tmp_path, from_start=True).scan(None).records
    again, _ = build_reader(tmp_path, from_start=True).scan(None).records
    assert first.event_id == again.event_id != second.event_id


def test_new_files_are_read_from_their_start(tmp_path):
    folder = tmp_path / "later"
    one = build_reader(folder)
    result = one.scan(None)
    assert (result.records, result.awaited_folder) == ([], str(tmp_path))
    folder.mkdir()
    (folder / "new.jsonl").write_text("hello\nhal")
    assert list_texts(one.scan(None)) == ["hello"]
    append(folder / "new.jsonl", "f\r\n")
    (folder / "other.txt").write_text("not one of them\n")
    assert list_texts(one.scan([str(folder / "new.jsonl"), str(folder / "other.txt")])) == ["half"]


def test_a_deep_watch_reads_subfolders(tmp_path):
    one = build_reader(tmp_path, is_deep=True)
    one.scan(None)
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "deep.jsonl").write_text("deep\n")
    result = one.scan(None)
    assert list_texts(result) == ["deep"]
    assert str(tmp_path / "x/y") in result.folders


def test_a_truncated_or_replaced_file_is_read_from_its_start(log, tmp_path):
    one = build_reader(tmp_path)
    one.scan(None)
    log.write_text("cut\n")
    assert list_texts(one.scan([str(log)])) == ["cut"]
    (tmp_path / "tmp").write_text("replaced\n")
    os.replace(tmp_path / "tmp", log)
    assert list_texts(one.scan([str(log), str(tmp_path / "tmp")])) == ["replaced"]


def test_a_rewrite_with_the_same_size_and_mtime_is_detected(log, tmp_path):
    one = build_reader(tmp_path, from_start=True)
    one.scan(None)
    log.write_text("BEFORE\n")
    assert list_texts(one.scan(None)) == ["BEFORE"]


@pytest.mark.parametrize("name", ["a.jsonl.1", "b.jsonl"])
def test_a_renamed_file_is_read_to_its_end_once(log, tmp_path, name):
    one = build_reader(tmp_path)
    one.scan(None)
    append(log, "unread\nhal")
    old = tmp_path / name
    os.rename(log, old)
    log.write_text("fresh\n")
    append(old, "f\n")
    assert sorted(list_texts(one.scan([str(log)]))) == ["fresh", "half", "unread"]
    append(old, "late\n")
    assert one.is_relevant_path(str(old))
    assert list_texts(one.scan([str(old)])) == ["late"]
    assert list_texts(one.scan(None)) == []


def test_only_matching_names_are_relevant(log, tmp_path):
    one = build_reader(tmp_path)
    one.scan(None)
    assert one.is_relevant_path(str(log))
    assert not one.is_relevant_path(str(tmp_path / "notes.txt"))
    result = one.scan([str(tmp_path / "notes.txt")])
    assert (result.records, result.is_full_scan) == ([], False)


def test_a_long_file_is_read_in_parts_and_a_long_line_is_dropped(log, tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "READ_CHUNK_BYTES", 64)
    monkeypatch.setattr(appended_lines, "READ_CHUNK_BYTES", 64)
    monkeypatch.setattr(tail, "MAX_LINE_BYTES", 100)
    one = build_reader(tmp_path)
    one.scan(None)
    append(log, "x" * 200 + "\n" + "".join(f"line {number}\n" for number in range(50)))
    (tmp_path / "b.jsonl").write_text("other\n")
    results = [one.scan([str(log), str(tmp_path / "b.jsonl")])]
    while results[-1].rescan_after_s == 0.0:
        results.append(one.scan(set()))
    found = [text for result in results for text in list_texts(result)]
    assert [text for text in found if text != "other"] == [f"line {number}" for number in range(50)]
    assert found.count("other") == 1
    assert (sum(result.dropped for result in results), len(results) > 5) == (1, True)


def test_an_unreadable_file_is_reported_and_the_others_are_read(log, tmp_path, monkeypatch):
    (tmp_path / "b.jsonl").write_text("other\n")
    real_open = appended_lines.open_for_reading

    def open_only_b(path: str) -> int:
        return real_open(path if path.endswith("b.jsonl") else f"{path}/no")

    monkeypatch.setattr(appended_lines, "open_for_reading", open_only_b)
    result = build_reader(tmp_path, from_start=True).scan(None)
    assert list_texts(result) == ["other"]
    assert result.detail == f"cannot read {log}: Not a directory"
