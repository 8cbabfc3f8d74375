"""Completions that a real fish offers."""

import sys
from pathlib import Path

import pytest

from termvisor.ops.docs.completions import fish
from termvisor.settings import Paths
from termvisor.system.subprocesses import run_and_capture as run
from tests.unit.fake_daemon import build_environment, make_private_paths, run_fake_daemon


def complete_lines(places: Paths, *lines: str) -> list[set[str]]:
    """The words that fish offers at the end of each line."""
    asked = "".join(f"echo -- '>'; complete -C'{line}'\n" for line in lines)
    path = f"{Path(sys.executable).parent}:{build_environment(places)['PATH']}"
    more = {"HOME": f"{places.config_dir}/home", "PATH": path}
    status, out, errors = run(
        ["fish", "-c", fish.render_script() + asked], env=build_environment(places, **more), timeout_s=60.0
    )
    assert (status, errors.decode()) == (0, "")
    answers = out.decode().split(">\n")[1:]
    return [{line.partition("\t")[0] for line in answer.splitlines()} for answer in answers]


def test_every_fish_completion_line_has_a_condition() -> None:
    lines = [line for line in fish.render_script().splitlines() if line.startswith("complete -c visor -n")]
    assert "complete -c visor -n '__visor_at config set' -a 'tmux_sockets" in fish.render_script()
    assert "complete -c visor -n '__visor_at get-text' -a '(__visor_panes)'" in lines
    assert all(line.count("'") % 2 == 0 or "\\'" in line for line in lines)


@pytest.mark.live
def test_fish_completes_commands_groups_options_choices_and_panes(folder: str) -> None:
    lines = {
        "visor list-pan": {"list-panes"},
        "visor robot state": {"state"},
        "visor config se": {"set"},
        "visor config set log_": {"log_level", "log_bytes"},
        "visor logs --lev": {"--level"},
        "visor logs --level ": {"debug", "info", "warning", "error"},
        "visor logs --level=w": {"--level=warning"},
        "visor panes --ses": {"--session"},
        "visor --format js": {"json"},
        "visor get-text ": set(),
    }
    places = make_private_paths(folder)
    assert dict(zip(lines, complete_lines(places, *lines), strict=True)) == lines
    assert not Path(places.runtime_dir).exists()
    with run_fake_daemon(folder):
        assert complete_lines(places, "visor get-text ", "visor list-gaps --pane ") == [{"1", "2", "3"}] * 2
