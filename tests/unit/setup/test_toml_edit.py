"""Reading and replacing TOML files."""

import os
import stat
from pathlib import Path

import pytest

from termvisor.errors import ConfigError, Unavailable
from termvisor.setup import toml_edit


def test_a_missing_file_is_empty_and_an_invalid_one_an_error(tmp_path: Path) -> None:
    assert toml_edit.read_toml_file(str(tmp_path / "none")) == ""
    (tmp_path / "broken").write_text("a = = 1")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    for name in ("broken", "binary", "folder"):
        with pytest.raises(ConfigError, match=name):
            toml_edit.read_toml_file(str(tmp_path / name))


def test_a_new_file_is_private_and_an_existing_one_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "c" / "config.toml"
    toml_edit.replace_toml_file(str(path), "a = 1\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    toml_edit.replace_toml_file(str(path), "a = 2\n")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("a = 2\n", 0o640)
    assert os.listdir(path.parent) == ["config.toml"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "c").mkdir(mode=0o700)
    real, link = tmp_path / "dotfiles" / "visor.toml", tmp_path / "c" / "config.toml"
    real.write_text("a = 1\n")
    link.symlink_to(real)
    toml_edit.replace_toml_file(str(link), "a = 2\n")
    assert link.is_symlink()
    assert real.read_text() == "a = 2\n"


def test_a_failed_write_is_reported_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir(parents=True)
    with pytest.raises(Unavailable, match="cannot write"):
        toml_edit.replace_toml_file(str(tmp_path / "config.toml"), "a = 1\n")
    assert os.listdir(tmp_path) == ["config.toml"]
