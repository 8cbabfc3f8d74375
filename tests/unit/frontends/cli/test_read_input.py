"""Input texts from files and stdin."""

import os
import sys
from pathlib import Path

import pytest

from termvisor.frontends.cli.read_input import MAX_INPUT_BYTES, read_input
from termvisor.settings import Paths
from termvisor.system.subprocesses import run_and_capture
from tests.unit.fake_daemon import build_environment, run_visor
from tests.unit.test_main import HEAVY


def test_a_file_is_read_to_the_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3
    (tmp_path / "f").write_bytes(data)
    assert read_input(os.fsencode(tmp_path / "f")).data == data


def test_of_an_endless_file_only_so_much_is_read_that_it_is_too_long() -> None:
    assert len(read_input(b"/dev/zero").data) == MAX_INPUT_BYTES


@pytest.mark.parametrize(("name", "why"), [("none", "No such file"), (".", "Is a directory")])
def test_an_unreadable_file_is_an_error(tmp_path: Path, name: str, why: str) -> None:
    assert why in read_input(os.fsencode(tmp_path / name)).error


def test_the_command_takes_a_text_from_stdin_and_imports_nothing_for_it(daemon: Paths) -> None:
    script = (
        "import sys; from termvisor.__main__ import main\n"
        "sys.argv = ['visor', 'robot', 'send', '1', '-']\n"
        "status = main()\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
        "sys.exit(status)"
    )
    status, out, imported = run_and_capture(
        [sys.executable, "-c", script], stdin=b"make test\n", env=build_environment(daemon)
    )
    assert (status, HEAVY & set(imported.decode().split())) == (0, set())
    assert b'"status":"done"' in out


def test_an_invalid_file_is_reported_by_the_daemon(daemon: Paths, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"ab\xff")
    assert run_visor(daemon, "send", "1", "--file", str(tmp_path / "f"))[2].startswith(
        f"visor: {tmp_path}/f is not valid UTF-8 at byte 2\n"
    )
    status, out, _ = run_visor(daemon, "robot", "send", "1", "--file", str(tmp_path / "none"))
    assert status == 2
    assert f"cannot read {tmp_path}/none: No such file" in out
