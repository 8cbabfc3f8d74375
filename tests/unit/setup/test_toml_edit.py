"""Editing TOML text keeps every other byte."""

import os
import stat
from pathlib import Path

import pytest

from termvisor.errors import ConfigError, Unavailable
from termvisor.ops.config.config_init import build_template
from termvisor.setup import toml_edit
from termvisor.setup.toml_edit import set_value, unset_value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a = 1\n"),
        ("b = 2\n", "b = 2\na = 1\n"),
        ("b = 2", "b = 2\na = 1\n"),
        ("a = 7\nb = 2\n", "a = 1\nb = 2\n"),
        ("  a   =   7 # why\nb = 2", "  a   =   1  # why\nb = 2"),
        ('"a"=7\n', '"a"=1\n'),
        ("a = 7\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n"),
        ("b = 2\r\n", "b = 2\r\na = 1\r\n"),
        ("# a = 5\nb = 2\n", "# a = 5\na = 1\nb = 2\n"),
        ("# a = 5", "# a = 5\na = 1\n"),
        ("b = 2\n\n[table]\na = 3\n", "b = 2\n\na = 1\n[table]\na = 3\n"),
        ('b = """\na = 7\n"""\n', 'b = """\na = 7\n"""\na = 1\n'),
        ('a = """\n# no comment\n"""  # one\n', "a = 1  # one\n"),
        (
            'a = [\n  # first\n  "x#y", # second\n  "z",\n] # third\nb = 2\n',
            "# first\n# second\na = 1  # third\nb = 2\n",
        ),
        ("a = '#'\n", "a = 1\n"),
    ],
)
def test_a_value_replaces_only_the_old_one(before: str, after: str) -> None:
    assert set_value(before, "a", "1") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("b = 2\n", "b = 2\n"),
        ("# about a\na = 7\nb = 2\n", "# about a\nb = 2\n"),
        ("a = 7 # why\nb = 2\n", "# why\nb = 2\n"),
        ("a = [\n # one\n 1,\n]\nb = 2\n", "# one\nb = 2\n"),
        ("[table]\na = 3\n", "[table]\na = 3\n"),
    ],
)
def test_a_removed_setting_keeps_its_comments(before: str, after: str) -> None:
    assert unset_value(before, "a") == after


def test_a_value_is_inserted_below_its_commented_out_line() -> None:
    text = set_value(build_template(), "log_level", '"debug"')
    lines = text.splitlines()
    assert lines[lines.index('log_level = "debug"') - 1] == '# log_level = "info"'
    assert unset_value(text, "log_level") == build_template()


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
