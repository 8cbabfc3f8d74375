"""Matching files of a folder, and the folders to watch."""

import os

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import source_reader
from termvisor.agents.sources.source_reader import (
    compile_name_pattern,
    find_existing_parent,
    open_for_reading,
    scan_folder,
)


def build_watch(folder, name: str = "*.jsonl", *, is_deep: bool = False) -> WatchedPath:
    return WatchedPath(source="transcript", kind="lines", folder=str(folder), pattern=name, is_deep=is_deep)


def list_names(found: scan_folder, top) -> list[str]:
    return [os.path.relpath(path, top) for path in found.files]


@pytest.mark.parametrize(
    ("pattern", "name", "is_match"),
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
def test_only_the_star_is_special(pattern, name, is_match):
    assert (compile_name_pattern(pattern).fullmatch(name) is not None) == is_match


def test_matching_files_are_found_and_others_listed_by_inode(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "d.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    found = scan_folder(build_watch(tmp_path))
    assert list_names(found, tmp_path) == ["a.jsonl", "b.jsonl"]
    assert found.other_paths_by_inode[os.stat(tmp_path / "c.txt").st_ino] == str(tmp_path / "c.txt")
    assert (found.result.folders, found.result.awaited_folder, found.result.detail) == ([str(tmp_path)], "", "")


def test_a_deep_scan_includes_subfolders_but_no_linked_folders(tmp_path):
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "a.jsonl").touch()
    (tmp_path / "x" / "round").symlink_to(tmp_path)
    found = scan_folder(build_watch(tmp_path, is_deep=True))
    assert list_names(found, tmp_path) == ["x/y/a.jsonl"]
    assert sorted(found.result.folders) == [str(tmp_path), str(tmp_path / "x"), str(tmp_path / "x/y")]


def test_a_scan_of_too_many_folders_is_truncated(tmp_path, monkeypatch):
    monkeypatch.setattr(source_reader, "_MAX_FOLDERS", 3)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    found = scan_folder(build_watch(tmp_path, is_deep=True))
    assert (len(found.result.folders), "more than" in found.result.detail) == (3, True)


def test_a_missing_folder_is_awaited_in_its_nearest_existing_parent(tmp_path):
    found = scan_folder(build_watch(tmp_path / "not" / "yet"))
    assert (found.files, found.result.folders, found.result.awaited_folder) == ({}, [], str(tmp_path))
    assert find_existing_parent("/nowhere-at-all/x") == "/"


def test_a_pipe_is_refused_without_blocking(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    assert scan_folder(build_watch(tmp_path)).files == {}
    with pytest.raises(OSError, match="not a regular file"):
        open_for_reading(str(tmp_path / "a.jsonl")).__enter__()


def test_a_link_is_followed_only_if_allowed(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_for_reading(str(tmp_path / "link")):
        pass
    with pytest.raises(OSError, match="symbolic links"):
        open_for_reading(str(tmp_path / "link"), follow_links=False).__enter__()


def test_only_folders_with_the_required_sibling_match(tmp_path):
    for name in ("a/events.jsonl", "a/inuse.42.lock", "b/events.jsonl", "b/inuse.43.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = scan_folder(replace(build_watch(tmp_path, is_deep=True), required_sibling="inuse.42.lock"))
    assert list(found.files) == [str(tmp_path / "a/events.jsonl")]
