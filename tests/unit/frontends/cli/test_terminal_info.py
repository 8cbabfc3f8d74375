"""Detection of width and colours of the terminal."""

import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from termvisor.frontends.cli.terminal_info import choose_colour_mode, detect_terminal


@pytest.fixture
def terminal() -> Iterator[int]:
    main, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 132, 0, 0))
    yield side
    os.close(main)
    os.close(side)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"VISOR_CONFIG_DIR": str(tmp_path)}


def test_a_terminal_has_its_width_and_colours(terminal: int, home: dict[str, str]) -> None:
    seen = detect_terminal(home, terminal)
    assert (seen.width, seen.is_terminal, seen.colour) == (132, True, True)


def test_columns_in_the_environment_win(terminal: int, home: dict[str, str]) -> None:
    assert detect_terminal(home | {"COLUMNS": "60"}, terminal).width == 60
    assert detect_terminal(home | {"COLUMNS": "wide"}, terminal).width == 132


def test_without_a_terminal_there_is_no_colour_and_no_width_limit(home: dict[str, str]) -> None:
    reader, writer = os.pipe()
    seen = detect_terminal(home | {"COLUMNS": "60"}, writer)
    assert (seen.width, seen.is_terminal, seen.colour) == (0, False, False)
    assert detect_terminal(home | {"VISOR_COLOUR": "always"}, writer).colour
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "auto"),
        ({"NO_COLOR": "1"}, "never"),
        ({"NO_COLOR": ""}, "auto"),
        ({"NO_COLOR": "1", "VISOR_COLOUR": "always"}, "always"),
    ],
)
def test_the_environment_sets_the_colour_mode(environ: dict[str, str], home: dict[str, str], expected: str) -> None:
    assert choose_colour_mode(home | environ) == expected


def test_the_config_file_sets_the_colour_mode(tmp_path: Path, home: dict[str, str]) -> None:
    (tmp_path / "config.toml").write_text('colour = "never"\n')
    assert choose_colour_mode(home) == "never"
    (tmp_path / "config.toml").write_text("nonsense")
    assert choose_colour_mode(home) == "auto"
