import os
import stat
from pathlib import Path

import pytest

from termvisor.errors import ConfigError, Unavailable, Unsupported
from termvisor.setup import shell_startup_file
from termvisor.setup.shell_startup_file import add_block, has_block, remove_block

BODY = b"echo hello\n"
BEGIN, END = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"


def test_the_block_stands_between_its_markers_at_the_end() -> None:
    assert add_block(b"alias x=y\n", BODY) == b"alias x=y\n" + BEGIN + b"\necho hello\n" + END + b"\n"
    assert has_block(add_block(None, BODY))
    assert not has_block(b"# visor setup shell\n")


@pytest.mark.parametrize("data", [None, b"", b"x", b"x\n", b"x\r\n", b"x\r\ny", b"\xff\xfe", b"\n\n"])
def test_taking_it_out_gives_what_was_there(data: bytes | None) -> None:
    assert remove_block(add_block(data, BODY)) == data


def test_a_new_block_takes_the_place_of_the_old_one() -> None:
    edited = add_block(b"before", b"old\n") + b"after\n"
    assert add_block(edited, BODY) == add_block(b"before", BODY) + b"after\n"
    assert remove_block(edited) == b"before\nafter\n"


def test_a_file_that_was_made_for_it_and_used_since_stays() -> None:
    assert remove_block(add_block(None, BODY) + b"alias x=y\n") == b"alias x=y\n"


def test_a_block_that_an_editor_gave_other_line_ends_is_found() -> None:
    assert remove_block(add_block(b"x\n", BODY).replace(b"\n", b"\r\n")) == b"x\r\n"
    assert remove_block(add_block(b"x\n", BODY).removesuffix(b"\n")) == b"x\n"


@pytest.mark.parametrize(
    "data",
    [BEGIN + b"\nx\n", b"x\n" + END + b"\n", END + b"\n" + BEGIN + b"\n", 2 * add_block(b"", BODY)],
    ids=["no end", "no begin", "the wrong way round", "twice"],
)
def test_damaged_markers_are_nothing_to_guess_about(data: bytes) -> None:
    for change in (lambda: add_block(data, BODY), lambda: remove_block(data)):
        with pytest.raises(ConfigError, match="damaged"):
            change()


def test_writing_keeps_the_rights_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.write_bytes(b"old")
    path.chmod(0o640)
    shell_startup_file.replace_user_file(str(path), b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert os.listdir(tmp_path) == [".bashrc"]
    shell_startup_file.replace_user_file(str(path), None)
    assert shell_startup_file.read_user_file(str(path)) is None


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "bashrc", tmp_path / ".bashrc"
    target.write_bytes(b"old")
    link.symlink_to("dotfiles/bashrc")
    shell_startup_file.replace_user_file(str(link), b"new", backup_data=b"old")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"new")
    assert os.listdir(tmp_path / "dotfiles") == ["bashrc"]
    assert (tmp_path / ".bashrc.before-visor").read_bytes() == b"old"


def test_a_link_to_nothing_becomes_a_link_to_a_file_and_back(tmp_path: Path) -> None:
    link = tmp_path / ".bashrc"
    link.symlink_to("elsewhere")
    shell_startup_file.replace_user_file(str(link), b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"new"
    shell_startup_file.replace_user_file(str(link), None)
    assert link.is_symlink()
    assert not link.exists()


def test_what_is_kept_from_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(Unavailable, match="read-only"):
        shell_startup_file.replace_user_file(str(path), b"new", backup_data=b"old")
    path.chmod(0o644)
    os.link(path, tmp_path / "other")
    with pytest.raises(Unsupported, match="hard link"):
        shell_startup_file.replace_user_file(str(path), b"new")
    with pytest.raises(Unsupported, match="no ordinary file"):
        shell_startup_file.replace_user_file("/dev/null", b"new")
    with pytest.raises(Unavailable, match="cannot read"):
        shell_startup_file.read_user_file(str(tmp_path))
    assert path.read_bytes() == b"old"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "fish").write_bytes(b"a file")
    with pytest.raises(Unavailable, match="nothing was changed"):
        shell_startup_file.replace_user_file(str(tmp_path / "fish" / "conf.d" / "termvisor.fish"), b"new")
    assert os.listdir(tmp_path) == ["fish"]


def test_the_copy_is_removed_when_it_says_nothing_new(tmp_path: Path) -> None:
    path = tmp_path / ".bashrc"
    path.write_bytes(b"old")
    path.chmod(0o600)
    shell_startup_file.replace_user_file(str(path), b"new", backup_data=b"old")
    kept = Path(shell_startup_file.get_backup_path(str(path)))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert shell_startup_file.remove_redundant_backup(str(path), b"edited since") == str(kept)
    assert shell_startup_file.remove_redundant_backup(str(path), b"old") is None
    assert not kept.exists()
