"""Completions that a real bash offers."""

import sys
from pathlib import Path

from termvisor.ops.docs.completions import bash
from termvisor.settings import Paths
from termvisor.system.subprocesses import run_and_capture as run
from tests.unit.fake_daemon import build_environment, make_private_paths, run_fake_daemon

VISOR = str(Path(sys.executable).with_name("visor"))

_ASK = """
complete_lines() {
    COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _visor "$1"; printf '%s\\n' "${COMPREPLY[*]}"
}
"""


def complete_lines(places: Paths, *lines: tuple[str, ...]) -> list[list[str]]:
    """Return the completions of each line; the cursor is in its last word."""
    script = "".join(f"complete_lines {VISOR} {' '.join(repr(word) for word in line)}\n" for line in lines)
    status, out, errors = run(
        ["bash", "--norc", "-c", bash.render_script() + _ASK + script], env=build_environment(places), timeout_s=30.0
    )
    assert (status, errors.decode()) == (0, "")
    return [line.split() for line in out.decode().splitlines()]


def test_bash_completes_commands_groups_options_and_choices(folder: str) -> None:
    lines: dict[tuple[str, ...], set[str]] = {
        ("list-pan",): {"list-panes"},
        ("robot", "state"): {"state"},
        ("state",): set(),
        ("config", "se"): {"set"},
        ("robot", "config", "un"): {"unset"},
        ("config", "set", "log_"): {"log_level", "log_bytes"},
        ("config", "set", "log_level", "de"): set(),
        ("logs", "--lev"): {"--level"},
        ("logs", "--level", ""): {"debug", "info", "warning", "error"},
        ("logs", "--level", "=", "w"): {"warning"},
        ("logs", "--level", "="): {"debug", "info", "warning", "error"},
        ("logs", "--level", "debug", "--fo"): {"--follow", "--format"},
        ("panes", "--ses"): {"--session"},
        ("list-events", "--kind", "gap"): {"gap_recorded"},
        ("daemon", "st"): {"start", "stop", "status"},
        ("completion", "z"): {"zsh"},
        ("--format", "js"): {"json"},
        ("list-panes", "--session", ""): set(),
    }
    found = complete_lines(make_private_paths(folder), *lines)
    assert {line: set(words) for line, words in zip(lines, found, strict=True)} == lines


def test_bash_asks_the_daemon_for_panes_and_starts_none(folder: str) -> None:
    wanted = [("get-text", ""), ("get-text", "2"), ("list-gaps", "--pane", ""), ("get-text", "2", "")]
    places = make_private_paths(folder)
    assert complete_lines(places, *wanted) == [[], [], [], []]
    assert not Path(places.runtime_dir).exists()
    with run_fake_daemon(folder):
        assert complete_lines(places, *wanted) == [["1", "2", "3"], ["2"], ["1", "2", "3"], []]
