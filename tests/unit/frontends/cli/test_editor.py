"""Editing a text in the user's editor."""

import os
from pathlib import Path

import pytest

from termvisor.frontends.cli import editor


@pytest.fixture
def set_editors(monkeypatch: pytest.MonkeyPatch):
    def name(**editors: str) -> None:
        for variable in ("VISUAL", "EDITOR"):
            monkeypatch.setenv(variable, editors.get(variable, ""))

    return name


def test_visual_overrides_editor_and_may_have_arguments(set_editors) -> None:
    set_editors(VISUAL="sed -i s/old/new/", EDITOR="false")
    assert editor.edit_text(b"old text\nof two lines") == b"new text\nof two lines"
    set_editors(EDITOR="sed -i s/old/newer/")
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
def test_a_cancelled_edit_prints_its_reason(
    set_editors, capfd: pytest.CaptureFixture[str], program: str, why: str
) -> None:
    set_editors(EDITOR=program)
    assert editor.edit_text(b"make") is None
    assert why in capfd.readouterr().err


def test_the_text_is_in_a_private_temporary_file(set_editors, tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\nstat -c "%a %n" "$1" > {tmp_path}/seen; echo more >> "$1"\n')
    script.chmod(0o700)
    set_editors(EDITOR=str(script))
    assert editor.edit_text(b"make") == b"make\nmore"
    mode, path = (tmp_path / "seen").read_text().split()
    assert (mode, os.path.exists(path)) == ("600", False)


def test_several_lines_need_an_editor(set_editors, capfd: pytest.CaptureFixture[str]) -> None:
    set_editors()
    assert editor.edit_text(b"one\ntwo") is None
    assert "set VISUAL or EDITOR" in capfd.readouterr().err
