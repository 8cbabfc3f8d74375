"""Whole files that change; a look at a time."""

import os

import pytest

from termvisor.agents.adapters.adapter import Watch
from termvisor.agents.sources import whole_files as files
from termvisor.agents.sources.whole_files import FilesReader
from termvisor.clock import SystemClock

OLD = (1_000_000_000, 1_000_000_000)


def reader(folder, name: str = "*.json", **more) -> FilesReader:
    return FilesReader(Watch(source="registry", kind="files", folder=str(folder), pattern=name, **more), SystemClock())


def texts(look) -> list[str]:
    return [record.text for record in look.records]


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "7.json"
    path.write_text('{"status":"idle"}')
    return path


def test_what_is_there_is_told_and_then_every_change_once(state, tmp_path):
    one = reader(tmp_path)
    assert texts(one.look(None)) == ['{"status":"idle"}']
    assert texts(one.look(None)) == []
    state.write_text('{"status":"busy"}')
    assert texts(one.look([str(state)])) == ['{"status":"busy"}']
    state.write_text('{"status":"busy"}')
    os.utime(state)
    assert texts(one.look([str(state)])) == []


def test_a_change_back_is_a_change_with_an_id_of_its_own(state, tmp_path):
    one = reader(tmp_path)
    (first,) = one.look(None).records
    state.write_text('{"status":"busy"}')
    one.look(None)
    state.write_text('{"status":"idle"}')
    os.utime(state, OLD)
    (last,) = one.look(None).records
    assert (last.text, last.path) == (first.text, str(state))
    assert last.event_id != first.event_id


def test_a_file_replaced_by_rename_is_a_change_and_no_end(state, tmp_path):
    one = reader(tmp_path)
    one.look(None)
    (tmp_path / "7.json.tmp").write_text('{"status":"busy"}')
    os.replace(tmp_path / "7.json.tmp", state)
    assert texts(one.look([str(tmp_path / "7.json.tmp"), str(state)])) == ['{"status":"busy"}']


@pytest.mark.parametrize("is_named", [True, False])
def test_the_end_of_a_file_is_an_empty_text_told_once(state, tmp_path, is_named):
    one = reader(tmp_path)
    one.look(None)
    os.remove(state)
    (record,) = one.look([str(state)] if is_named else None).records
    assert (record.text, record.path) == ("", str(state))
    assert one.look([str(state)]).records == one.look(None).records == []
    state.write_text('{"status":"idle"}')
    assert texts(one.look(None)) == ['{"status":"idle"}']


def test_json_that_is_being_written_is_told_when_it_is_whole(state, tmp_path):
    one = reader(tmp_path)
    state.write_text("")
    look = one.look([str(state)])
    assert (texts(look), look.again_in) == ([], 0.02)
    state.write_text('{"status":')
    assert (texts(one.look(set())), look.dropped) == ([], 0)
    state.write_text('{"status":"busy"}')
    look = one.look(set())
    assert (texts(look), look.again_in) == (['{"status":"busy"}'], None)


def test_json_that_never_becomes_whole_is_given_up_and_counted_until_it_changes(state, tmp_path):
    one = reader(tmp_path)
    state.write_text("{")
    looks = [one.look(None)]
    while looks[-1].again_in:
        looks.append(one.look(set()))
    assert (sum(look.dropped for look in looks), len(looks)) == (1, files._TRIES + 2)
    assert looks[-1].detail == f"{state} is no JSON"
    assert one.look(None).again_in is None
    state.write_text('{"status":"busy"}')
    assert texts(one.look([str(state)])) == ['{"status":"busy"}']


def test_plain_text_is_told_when_it_is_at_rest(tmp_path):
    one = reader(tmp_path, "*.lock")
    path = tmp_path / "a.lock"
    path.write_text("par")
    assert one.look(None).records == []
    path.write_text("partly")
    assert one.look([str(path)]).records == []
    assert texts(one.look(set())) == ["partly"]
    assert texts(one.look(None)) == []
    path.write_text("old")
    os.utime(path, OLD)
    assert texts(one.look([str(path)])) == ["old"]


def test_text_that_never_rests_is_told_all_the_same(tmp_path):
    one = reader(tmp_path, "*.log")
    path = tmp_path / "a.log"
    path.touch()
    found: list[str] = []
    while not found:
        with open(path, "a") as file:
            file.write("x")
        found = texts(one.look(None))
    assert found == ["x" * (files._TRIES + 2)]


def test_a_file_that_is_too_long_is_counted_and_not_read(state, tmp_path):
    one = reader(tmp_path)
    state.write_text('"' + "x" * files.LARGEST + '"')
    look = one.look(None)
    assert (look.records, look.dropped, look.detail) == ([], 1, f"{state} is longer than 1,048,576 bytes")
    assert one.look(None).dropped == 0


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_read(state, tmp_path, monkeypatch):
    (tmp_path / "8.json").write_text("{}")
    honest = files.opened
    monkeypatch.setattr(files, "opened", lambda path: honest(path if path.endswith("8.json") else f"{path}/no"))
    look = reader(tmp_path).look(None)
    assert texts(look) == ["{}"]
    assert look.detail == f"cannot read {state}: Not a directory"


def test_folders_below_and_folders_that_are_missing(tmp_path):
    one = reader(tmp_path / "later", is_deep=True)
    assert one.look(None).awaited == str(tmp_path)
    (tmp_path / "later" / "x").mkdir(parents=True)
    (tmp_path / "later" / "x" / "1.json").write_text("1")
    look = one.look(None)
    assert (texts(look), len(look.folders)) == (["1"], 2)
