"""Editing a text in the user's editor."""

import os
from pathlib import Path

import pytest

from termvisor.frontends.cli import editor


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch):
    def name(**editors: str) -> None:
        for variable in ("VISUAL", "EDITOR"):
            monkeypatch.setenv(variable, editors.get(variable, ""))

    return name


def test_visual_goes_before_editor_and_may_have_words(named) -> None:
    named(VISUAL="sed -i s/old/new/", EDITOR="false")
    assert editor.edit_text(b"old text\nof two lines") == b"new text\nof two lines"
    named(EDITOR="sed -i s/old/newer/")
    assert editor.edit_text(b"old") == b"newer"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("true", "The text is unchanged."),
        ("truncate -s 0", "The text is empty."),
        ("false", "false exited with status 1."),
        ("/nowhere/vi", "/nowhere/vi exited with status 127."),
        ("vi '", "VISUAL or EDITOR is not a valid command"),
    ],
)
def test_a_cancelled_edit_prints_its_reason(named, capfd: pytest.CaptureFixture[str], program: str, why: str) -> None:
    named(EDITOR=program)
    assert editor.edit_text(b"make") is None
    assert why in capfd.readouterr().err


def test_the_text_is_in_a_private_file_that_does_not_stay(named, tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\nstat -c "%a %n" "$1" > {tmp_path}/seen; echo more >> "$1"\n')
    script.chmod(0o700)
    named(EDITOR=str(script))
    assert editor.edit_text(b"make") == b"make\nmore"
    mode, path = (tmp_path / "seen").read_text().split()
    assert (mode, os.path.exists(path)) == ("600", False)


def test_several_lines_need_an_editor(named, capfd: pytest.CaptureFixture[str]) -> None:
    named()
    assert editor.edit_text(b"one\ntwo") is None
    assert "set VISUAL or EDITOR" in capfd.readouterr().err
