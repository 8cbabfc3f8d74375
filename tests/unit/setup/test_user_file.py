"""Diffs, atomic replacement and backups of users' files."""

import os
import stat
from pathlib import Path

import pytest

from termvisor.errors import Unavailable, Unsupported
from termvisor.setup import user_file
from termvisor.setup.user_file import FileChange, format_diff

TOKEN = "ghp_" + "a1B2" * 9


def test_a_diff_shows_changed_lines_and_no_secret() -> None:
    shown = format_diff(
        FileChange("/f", f"export TOKEN={TOKEN}\nend".encode(), f"export TOKEN={TOKEN}\nnew\nend".encode())
    )
    assert shown.startswith("--- /f\n+++ /f\n")
    assert "+new" in shown.split("\n")
    assert "\\ No newline at end of file" in shown
    assert TOKEN not in shown


def test_a_created_or_deleted_file_is_shown_as_dev_null() -> None:
    assert format_diff(FileChange("/f", None, b"x\n")).startswith("--- /dev/null\n+++ /f\n")
    assert format_diff(FileChange("/f", b"x\n", None)).startswith("--- /f\n+++ /dev/null\n")
    assert (FileChange("/f", None, None).is_empty, FileChange("/f", None, b"").is_empty) == (True, False)


def test_writing_keeps_the_mode_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.write_bytes(b"old")
    path.chmod(0o640)
    user_file.replace_user_file(str(path), b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert os.listdir(tmp_path) == [".bashrc"]
    user_file.replace_user_file(str(path), None)
    assert user_file.read_user_file(str(path)) is None


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "bashrc", tmp_path / ".bashrc"
    target.write_bytes(b"old")
    link.symlink_to("dotfiles/bashrc")
    user_file.replace_user_file(str(link), b"new", backup_data=b"old")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"new")
    assert os.listdir(tmp_path / "dotfiles") == ["bashrc"]
    assert (tmp_path / ".bashrc.before-visor").read_bytes() == b"old"


def test_a_dangling_link_is_written_through_and_restored(tmp_path: Path) -> None:
    link = tmp_path / ".bashrc"
    link.symlink_to("elsewhere")
    user_file.replace_user_file(str(link), b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"new"
    user_file.replace_user_file(str(link), None)
    assert link.is_symlink()
    assert not link.exists()


def test_protected_files_are_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(Unavailable, match="read-only"):
        user_file.replace_user_file(str(path), b"new", backup_data=b"old")
    path.chmod(0o644)
    os.link(path, tmp_path / "other")
    with pytest.raises(Unsupported, match="hard link"):
        user_file.replace_user_file(str(path), b"new")
    with pytest.raises(Unsupported, match="not a regular file"):
        user_file.replace_user_file("/dev/null", b"new")
    with pytest.raises(Unavailable, match="cannot read"):
        user_file.read_user_file(str(tmp_path))
    assert path.read_bytes() == b"old"


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "fish").write_bytes(b"a file")
    with pytest.raises(Unavailable, match="nothing was changed"):
        user_file.replace_user_file(str(tmp_path / "fish" / "conf.d" / "termvisor.fish"), b"new")
    assert os.listdir(tmp_path) == ["fish"]


def test_a_redundant_backup_is_removed(tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.write_bytes(b"old")
    path.chmod(0o600)
    user_file.replace_user_file(str(path), b"new", backup_data=b"old")
    kept = Path(user_file.get_backup_path(str(path)))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert user_file.remove_redundant_backup(str(path), b"edited since") == str(kept)
    assert user_file.remove_redundant_backup(str(path), b"old") is None
    assert not kept.exists()
