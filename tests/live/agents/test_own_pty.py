"""A real Claude Code in an own PTY, without hooks: it tells its states in its terminal (OSC 7501), and takes input."""

import pytest

from termvisor.testing.leftover_processes import kill_processes_of
from tests.live.agents.agent_programs import CLAUDE, AgentFolders
from tests.live.agents.model.server import run_model_server
from tests.live.conftest import run_compiled_instance
from tests.live.numbered_printer import read_raw_log
from tests.live.polling import wait_until
from tests.live.robot_shells import allow_robots

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture
def visor(folder):
    with run_compiled_instance(folder, f"{folder}/none") as instance:
        allow_robots(instance, 'spawn", "send_text')
        instance.start()
        yield instance


@pytest.fixture
def claude(visor, tmp_path):
    """Start the agent in an own PTY and return its pane."""
    with run_model_server() as model:
        place = AgentFolders(tmp_path, model)
        CLAUDE.prepare(place)
        tmux_words = "TMUX=$TMUX TMUX_PANE=$TMUX_PANE TERM=$TERM TERM_PROGRAM=tmux"
        command = CLAUDE.build_command(place).replace(tmux_words, "TERM=$TERM")
        script = tmp_path / "start"
        script.write_text(f"#!/bin/sh\n{command}\n")
        script.chmod(0o755)
        yield visor.call_robot("spawn", "--pty", "--", str(script))["new"]["id"]
        kill_processes_of(str(tmp_path))


def read_row(visor, pane: int) -> dict:
    return next(row for row in visor.call_robot("state")["items"] if row["identity"]["id"] == pane)


def wait_for_state(visor, pane: int, *states: str, seconds: float = 60.0) -> dict:
    return wait_until(
        lambda: next((row for row in [read_row(visor, pane)] if row["state"] in states), None), timeout_s=seconds
    )


def list_reported(visor, pane: int) -> list[str]:
    """Return the states that the agent has printed, in order."""
    text = read_raw_log(visor.paths.raw_dir, pane).decode("utf-8", "replace")
    return [part.partition(":")[0] for part in text.replace("\x1b]7501;state=", "\0").split("\0")[1:]]


def test_an_agent_tells_its_states_by_osc_7501(visor, claude):
    wait_for_state(visor, claude, "idle", seconds=120)
    visor.call_robot("send", str(claude), "MODEL slow 4")
    wait_for_state(visor, claude, "running")
    wait_for_state(visor, claude, "idle", "completed")
    visor.call_robot("send", str(claude), "MODEL shell touch made-by-the-agent")
    row = wait_for_state(visor, claude, "waiting_approval")
    assert row["evidence_mode"] == "deterministic"
    evidence = visor.call_robot("explain", str(claude))
    assert "osc" in str(evidence).lower()
    reported = list_reported(visor, claude)
    assert [state for state in ("idle", "working", "done", "blocked") if state not in reported] == []
