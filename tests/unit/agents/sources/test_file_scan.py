"""Which files fit, and where to listen for them."""

import os

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import file_scan
from termvisor.agents.sources.file_scan import FolderScan, compile_name_pattern, find_existing_parent, open_for_reading


def watch(folder, name: str = "*.jsonl", *, is_deep: bool = False) -> WatchedPath:
    return WatchedPath(source="transcript", kind="lines", folder=str(folder), pattern=name, is_deep=is_deep)


def names(found: FolderScan, top) -> list[str]:
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
    assert (compile_name_pattern(form).fullmatch(name) is not None) == fits


def test_files_that_fit_are_found_and_the_others_known_by_inode(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "d.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    found = FolderScan().scan(watch(tmp_path))
    assert names(found, tmp_path) == ["a.jsonl", "b.jsonl"]
    assert found.other_paths_by_inode[os.stat(tmp_path / "c.txt").st_ino] == str(tmp_path / "c.txt")
    assert (found.folders, found.awaited_folder, found.is_truncated) == ([str(tmp_path)], "", False)


def test_deep_means_all_folders_below_but_no_links_to_folders(tmp_path):
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "a.jsonl").touch()
    (tmp_path / "x" / "round").symlink_to(tmp_path)
    found = FolderScan().scan(watch(tmp_path, is_deep=True))
    assert names(found, tmp_path) == ["x/y/a.jsonl"]
    assert sorted(found.folders) == [str(tmp_path), str(tmp_path / "x"), str(tmp_path / "x/y")]


def test_too_many_folders_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(file_scan, "_MAX_FOLDERS", 3)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    found = FolderScan().scan(watch(tmp_path, is_deep=True))
    assert (len(found.folders), found.is_truncated) == (3, True)


def test_a_folder_that_is_not_there_is_awaited_in_the_nearest_one_that_is(tmp_path):
    found = FolderScan().scan(watch(tmp_path / "not" / "yet"))
    assert (found.files, found.folders, found.awaited_folder) == ({}, [], str(tmp_path))
    assert find_existing_parent("/nowhere-at-all/x") == "/"


def test_a_pipe_is_refused_and_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    assert FolderScan().scan(watch(tmp_path)).files == {}
    with pytest.raises(OSError, match="not a plain file"):
        open_for_reading(str(tmp_path / "a.jsonl"))


def test_a_link_is_followed_only_where_it_may_be(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.close(open_for_reading(str(tmp_path / "link")))
    with pytest.raises(OSError, match="symbolic links"):
        open_for_reading(str(tmp_path / "link"), follow_links=False)


def test_only_what_stands_beside_a_certain_file_counts(tmp_path):
    for name in ("a/events.jsonl", "a/inuse.42.lock", "b/events.jsonl", "b/inuse.43.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = FolderScan().scan(replace(watch(tmp_path, is_deep=True), required_sibling="inuse.42.lock"))
    assert list(found.files) == [str(tmp_path / "a/events.jsonl")]
