"""Whole files that change, one scan at a time."""

import os

import pytest

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import whole_files
from termvisor.agents.sources.whole_files import WholeFilesReader
from termvisor.clock import SystemClock

OLD = (1_000_000_000, 1_000_000_000)


def build_reader(folder, name: str = "*.json", **more) -> WholeFilesReader:
    return WholeFilesReader(
        WatchedPath(source="registry", kind="files", folder=str(folder), pattern=name, **more), SystemClock()
    )


def list_texts(result) -> list[str]:
    return [record.text for record in result.records]


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "7.json"
    path.write_text('{"status":"idle"}')
    return path


def test_existing_files_and_every_change_are_reported_once(state, tmp_path):
    one = build_reader(tmp_path)
    assert list_texts(one.scan(None)) == ['{"status":"idle"}']
    assert list_texts(one.scan(None)) == []
    state.write_text('{"status":"busy"}')
    assert list_texts(one.scan([str(state)])) == ['{"status":"busy"}']
    state.write_text('{"status":"busy"}')
    os.utime(state)
    assert list_texts(one.scan([str(state)])) == []


def test_a_change_back_has_its_own_id(state, tmp_path):
    one = build_reader(tmp_path)
    (first,) = one.scan(None).records
    state.write_text('{"status":"busy"}')
    one.scan(None)
    state.write_text('{"status":"idle"}')
    os.utime(state, OLD)
    (last,) = one.scan(None).records
    assert (last.text, last.path) == (first.text, str(state))
    assert last.event_id != first.event_id


def test_a_file_replaced_by_rename_is_a_change(state, tmp_path):
    one = build_reader(tmp_path)
    one.scan(None)
    (tmp_path / "7.json.tmp").write_text('{"status":"busy"}')
    os.replace(tmp_path / "7.json.tmp", state)
    assert list_texts(one.scan([str(tmp_path / "7.json.tmp"), str(state)])) == ['{"status":"busy"}']


@pytest.mark.parametrize("is_named", [True, False])
def test_a_removed_file_is_reported_once_with_empty_text(state, tmp_path, is_named):
    one = build_reader(tmp_path)
    one.scan(None)
    os.remove(state)
    (record,) = one.scan([str(state)] if is_named else None).records
    assert (record.text, record.path) == ("", str(state))
    assert one.scan([str(state)]).records == one.scan(None).records == []
    state.write_text('{"status":"idle"}')
    assert list_texts(one.scan(None)) == ['{"status":"idle"}']


def test_incomplete_json_is_reported_when_complete(state, tmp_path):
    one = build_reader(tmp_path)
    state.write_text("")
    result = one.scan([str(state)])
    assert (list_texts(result), result.rescan_after_s) == ([], 0.02)
    state.write_text('{"status":')
    assert (list_texts(one.scan(set())), result.dropped) == ([], 0)
    state.write_text('{"status":"busy"}')
    result = one.scan(set())
    assert (list_texts(result), result.rescan_after_s) == (['{"status":"busy"}'], None)


def test_json_that_stays_invalid_is_dropped_until_it_changes(state, tmp_path):
    one = build_reader(tmp_path)
    state.write_text("{")
    results = [one.scan(None)]
    while results[-1].rescan_after_s:
        results.append(one.scan(set()))
    assert (sum(result.dropped for result in results), len(results)) == (1, whole_files._MAX_READ_ATTEMPTS + 2)
    assert results[-1].detail == f"{state} is not valid JSON"
    assert one.scan(None).rescan_after_s is None
    state.write_text('{"status":"busy"}')
    assert list_texts(one.scan([str(state)])) == ['{"status":"busy"}']


def test_plain_text_is_reported_when_unchanged(tmp_path):
    one = build_reader(tmp_path, "*.lock")
    path = tmp_path / "a.lock"
    path.write_text("par")
    assert one.scan(None).records == []
    path.write_text("partly")
    assert one.scan([str(path)]).records == []
    assert list_texts(one.scan(set())) == ["partly"]
    assert list_texts(one.scan(None)) == []
    path.write_text("old")
    os.utime(path, OLD)
    assert list_texts(one.scan([str(path)])) == ["old"]


def test_text_that_keeps_changing_is_reported_after_the_last_retry(tmp_path):
    one = build_reader(tmp_path, "*.log")
    path = tmp_path / "a.log"
    path.touch()
    found: list[str] = []
    while not found:
        with open(path, "a") as file:
            file.write("x")
        found = list_texts(one.scan(None))
    assert found == ["x" * (whole_files._MAX_READ_ATTEMPTS + 2)]


def test_a_large_file_is_dropped(state, tmp_path):
    one = build_reader(tmp_path)
    state.write_text('"' + "x" * whole_files.MAX_FILE_BYTES + '"')
    result = one.scan(None)
    assert (result.records, result.dropped, result.detail) == ([], 1, f"{state} is larger than 1,048,576 bytes")
    assert one.scan(None).dropped == 0


def test_an_unreadable_file_is_reported_and_the_others_are_read(state, tmp_path, monkeypatch):
    (tmp_path / "8.json").write_text("{}")
    real_open = whole_files.open_for_reading
    monkeypatch.setattr(
        whole_files, "open_for_reading", lambda path: real_open(path if path.endswith("8.json") else f"{path}/no")
    )
    result = build_reader(tmp_path).scan(None)
    assert list_texts(result) == ["{}"]
    assert result.detail == f"cannot read {state}: Not a directory"


def test_subfolders_are_read_and_a_missing_folder_is_awaited(tmp_path):
    one = build_reader(tmp_path / "later", is_deep=True)
    assert one.scan(None).awaited_folder == str(tmp_path)
    (tmp_path / "later" / "x").mkdir(parents=True)
    (tmp_path / "later" / "x" / "1.json").write_text("1")
    result = one.scan(None)
    assert (list_texts(result), len(result.folders)) == (["1"], 2)
