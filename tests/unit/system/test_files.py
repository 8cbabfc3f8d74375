"""Atomic writes, regular files and locks."""

import os
import stat
from pathlib import Path

import pytest

from termvisor.errors import ConfigError
from termvisor.system import files
from termvisor.system.files import open_regular_file


def test_a_new_file_gets_the_given_mode_and_an_existing_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write_atomically(str(path), b"one", files.stat_if_exists(str(path)), 0o640)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"one", 0o640)
    path.chmod(0o604)
    files.write_atomically(str(path), b"two", files.stat_if_exists(str(path)))
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o604)


def test_an_open_reader_reads_the_old_content_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old and long")
    with path.open("rb") as reader:
        files.write_atomically(str(path), b"new", None)
        assert (reader.read(), path.read_bytes()) == (b"old and long", b"new")


def test_a_failed_replacement_leaves_no_temporary_file(tmp_path: Path) -> None:
    taken = tmp_path / "folder"
    (taken / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        files.write_atomically(str(taken), b"data", None)
    assert os.listdir(tmp_path) == ["folder"]


def test_a_regular_file_and_a_link_to_one_are_opened(tmp_path):
    (tmp_path / "file").write_text("hello")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with open(tmp_path / name, opener=open_regular_file) as file:
            assert file.read() == "hello"


def test_a_pipe_without_a_writer_a_device_and_a_folder_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular_file(str(path), os.O_RDONLY)
    with pytest.raises(IsADirectoryError):
        open_regular_file(str(tmp_path), os.O_RDONLY)


def test_the_holder_is_known_by_its_pid_and_the_lock_is_exclusive(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    assert files.read_lock_holder(path) is None
    held = files.acquire_lock(path)
    assert held is not None
    assert (files.read_lock_holder(path), files.acquire_lock(path)) == (os.getpid(), None)
    os.close(held)


def test_a_released_lock_is_free_although_its_file_remains(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    os.close(files.acquire_lock(path) or -1)
    assert files.read_lock_holder(path) is None
    again = files.acquire_lock(path)
    assert again is not None
    os.close(again)


def test_a_lock_without_a_written_pid_is_held(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    held = files.acquire_lock(path)
    assert held is not None
    os.truncate(held, 0)
    assert files.read_lock_holder(path) == 0
    os.close(held)


def test_a_lock_carries_a_note_for_other_processes(tmp_path: Path) -> None:
    assert files.read_lock_note(str(tmp_path / "lock")) == ""
    held = files.acquire_lock(str(tmp_path / "lock"), "/run/user/7/termvisor")
    assert files.read_lock_note(str(tmp_path / "lock")) == "/run/user/7/termvisor"
    os.close(held or -1)


@pytest.mark.parametrize(("names", "mode"), [(["bin", "etc"], 0o755), (["bin"], 0o700)])
def test_a_folder_with_foreign_content_is_refused_and_not_changed(tmp_path: Path, names: list[str], mode: int) -> None:
    for name in names:
        (tmp_path / name).mkdir()
    tmp_path.chmod(mode)
    with pytest.raises(ConfigError, match="was not made by Termvisor"):
        files.check_own_folder(str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == mode


def test_a_folder_with_foreign_content_is_never_restricted(tmp_path: Path) -> None:
    target = tmp_path / "shared"
    (target / "project").mkdir(parents=True)
    target.chmod(0o755)
    with pytest.raises(ConfigError):
        files.make_private_folder(str(target))
    files.make_private_folder(str(target), keeps_mode=True)
    assert target.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("names", [[], ["lost+found"], ["visor.db", "notes.txt"], ["shells"]])
def test_an_empty_folder_and_our_own_are_accepted_and_restricted(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).touch()
    tmp_path.chmod(0o755)
    files.check_own_folder(str(tmp_path))
    files.make_private_folder(str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_a_folder_inside_our_own_is_restricted_whatever_it_contains(tmp_path: Path) -> None:
    (tmp_path / "raw" / "7").mkdir(parents=True)
    (tmp_path / "raw").chmod(0o755)
    files.make_private_folder(str(tmp_path / "raw"))
    assert (tmp_path / "raw").stat().st_mode & 0o777 == 0o700


def test_a_file_that_another_user_could_have_written_is_not_trusted(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "policy.toml"
    assert files.find_trust_problem(str(path)) == ""
    path.touch()
    assert files.find_trust_problem(str(path)) == ""
    path.chmod(0o666)
    assert files.find_trust_problem(str(path)) == f"{path} can be written by all users"
    path.chmod(0o600)
    tmp_path.chmod(0o1777)
    assert files.find_trust_problem(str(path)) == f"{tmp_path} can be written by all users"
    tmp_path.chmod(0o700)
    owner = os.stat_result((0o100600, 1, 1, 1, os.geteuid() + 1, 0, 0, 0, 0, 0))
    monkeypatch.setattr(os, "stat", lambda checked: owner if checked == str(path) else os.lstat(checked))
    assert files.find_trust_problem(str(path)) == f"{path} belongs to user {os.geteuid() + 1}"
