"""`visor config edit`: the user's editor on the config file, until it is valid."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.errors import Unavailable
from termvisor.frontends.cli.config_editor import run_config_edit
from termvisor.ops.config.config_edit import ConfigEditArgs
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VISOR_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("VISUAL", "")
    return tmp_path / "config" / "config.toml"


@pytest.fixture
def set_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def write(script: str) -> None:
        path = tmp_path / "my-editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        monkeypatch.setenv("EDITOR", str(path))

    return write


@contextmanager
def type_answers(text: bytes) -> Iterator[None]:
    """Type at the terminal; then its input ends."""
    reader, writer = os.pipe()
    saved = os.dup(0)
    os.write(writer, text)
    os.close(writer)
    os.dup2(reader, 0)
    try:
        yield
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(reader)


def test_a_valid_change_is_written_and_reported(config: Path, set_editor, capfd: pytest.CaptureFixture[str]) -> None:
    set_editor('grep -q "# retention" "$1" && echo "[storage]\nretention = 7" >"$1"')
    assert run_config_edit(ConfigEditArgs()) == 0
    out = capfd.readouterr().out
    assert (f"{config}: valid" in out, "visor config reload" in out) == (True, True)
    assert config.read_text() == "[storage]\nretention = 7\n"
    set_editor("true")
    assert run_config_edit(ConfigEditArgs()) == 0
    assert capfd.readouterr().out == f"{config}: unchanged\n"


def test_an_unchanged_template_is_not_kept(config: Path, set_editor) -> None:
    set_editor("true")
    assert run_config_edit(ConfigEditArgs()) == 0
    assert not config.exists()


def test_an_invalid_file_may_be_edited_again(config: Path, set_editor, capfd: pytest.CaptureFixture[str]) -> None:
    set_editor(
        'if grep -q retenton "$1"; then echo "log_level = \\"debug\\"" >"$1"; else echo "retenton = 7" >"$1"; fi'
    )
    with type_answers(b"y\n"):
        assert run_config_edit(ConfigEditArgs()) == 0
    assert "retention" in capfd.readouterr().err
    assert config.read_text() == 'log_level = "debug"\n'


@pytest.mark.parametrize("answer", [b"n\n", b""], ids=["no", "end of input"])
def test_an_invalid_file_is_kept_if_the_user_stops(config: Path, set_editor, answer: bytes) -> None:
    set_editor('echo "retenton = 7" >"$1"')
    with type_answers(answer):
        assert run_config_edit(ConfigEditArgs()) == 78
    assert config.read_text() == "retenton = 7\n"


def test_a_failing_or_missing_editor_is_reported(
    config: Path, set_editor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    set_editor("exit 3")
    with pytest.raises(Unavailable, match="exited with status 3"):
        run_config_edit(ConfigEditArgs())
    monkeypatch.setenv("EDITOR", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="no editor found") as caught:
        run_config_edit(ConfigEditArgs())
    assert "export EDITOR=" in caught.value.hint


async def test_without_a_terminal_the_path_and_the_other_command_are_named() -> None:
    services = await build_sample_services()
    assert "visor config set" in (await run_command(services, "config", "edit")).out
    assert (await run_command(services, "config", "edit", "-q")).out == f"{services.paths.config_file}\n"
