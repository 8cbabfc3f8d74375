"""Which files fit, and where to listen for them."""

import os

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Watch
from termvisor.agents.sources import file_scan as survey
from termvisor.agents.sources.file_scan import Survey, nearest, opened, pattern


def watch(folder, name: str = "*.jsonl", *, is_deep: bool = False) -> Watch:
    return Watch(source="transcript", kind="lines", folder=str(folder), pattern=name, is_deep=is_deep)


def names(found: Survey, top) -> list[str]:
    return [os.path.relpath(path, top) for path in found.files]


@pytest.mark.parametrize(
    ("form", "name", "fits"),
    [
        ("*.json", "a.json", True),
        ("*.json", "a.json.tmp", False),
        ("7.json", "7.json", True),
        ("7.json", "7xjson", False),
        ("session-*-?.jsonl", "session-9-?.jsonl", True),
        ("session-*-?.jsonl", "session-9-8.jsonl", False),
        ("[a]*", "[a]b", True),
        ("*", "any\nthing", True),
    ],
)
def test_only_the_star_is_special(form, name, fits):
    assert (pattern(form).fullmatch(name) is not None) == fits


def test_files_that_fit_are_found_and_the_others_known_by_inode(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "d.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    found = Survey().take(watch(tmp_path))
    assert names(found, tmp_path) == ["a.jsonl", "b.jsonl"]
    assert found.others[os.stat(tmp_path / "c.txt").st_ino] == str(tmp_path / "c.txt")
    assert (found.folders, found.awaited, found.is_cut) == ([str(tmp_path)], "", False)


def test_deep_means_all_folders_below_but_no_links_to_folders(tmp_path):
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "a.jsonl").touch()
    (tmp_path / "x" / "round").symlink_to(tmp_path)
    found = Survey().take(watch(tmp_path, is_deep=True))
    assert names(found, tmp_path) == ["x/y/a.jsonl"]
    assert sorted(found.folders) == [str(tmp_path), str(tmp_path / "x"), str(tmp_path / "x/y")]


def test_too_many_folders_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(survey, "_MOST_FOLDERS", 3)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    found = Survey().take(watch(tmp_path, is_deep=True))
    assert (len(found.folders), found.is_cut) == (3, True)


def test_a_folder_that_is_not_there_is_awaited_in_the_nearest_one_that_is(tmp_path):
    found = Survey().take(watch(tmp_path / "not" / "yet"))
    assert (found.files, found.folders, found.awaited) == ({}, [], str(tmp_path))
    assert nearest("/nowhere-at-all/x") == "/"


def test_a_pipe_is_refused_and_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    assert Survey().take(watch(tmp_path)).files == {}
    with pytest.raises(OSError, match="not a plain file"):
        opened(str(tmp_path / "a.jsonl"))


def test_a_link_is_followed_only_where_it_may_be(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.close(opened(str(tmp_path / "link")))
    with pytest.raises(OSError, match="symbolic links"):
        opened(str(tmp_path / "link"), may_be_link=False)


def test_only_what_stands_beside_a_certain_file_counts(tmp_path):
    for name in ("a/events.jsonl", "a/inuse.42.lock", "b/events.jsonl", "b/inuse.43.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = Survey().take(replace(watch(tmp_path, is_deep=True), beside="inuse.42.lock"))
    assert list(found.files) == [str(tmp_path / "a/events.jsonl")]
