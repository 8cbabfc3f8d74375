"""All agents at once in panes of one tmux, without hooks: the daemon tracks the state of each."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from termvisor.testing.leftover_processes import kill_processes_of
from tests.live.agents.agent_programs import GEMINI, PROGRAMS, AgentFolders, AgentProgram
from tests.live.agents.model.server import run_model_server
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]
NAMES = {"claude": "claude_code"}
REPORTING = ("claude", "codex", "copilot", "gemini")
"""Agents that report their state without any setup."""
AT_REST = {"idle", "completed"}


class TrackedAgent:
    """One agent in its pane, and its published state."""

    def __init__(self, scene: WatchedTmux, program: AgentProgram, place: AgentFolders):
        self._scene, self.program, self.place = scene, program, place
        program.prepare(place)
        self.mux_id = scene.tmux.start_session(program.name, "bash --norc", width=110, height=36)
        scene.tmux.type_line(self.mux_id, program.build_command(place).replace("&& exec ", "&& "))

    @property
    def row(self) -> dict:
        return wait_until(
            lambda: next(
                (item for item in self._scene.list_panes() if item["identity"]["pane_id"] == self.mux_id), None
            )
        )

    def wait_for_state(self, *states: str | None, seconds: float = 40.0) -> dict:
        """Wait until the agent is in one of these states and return the pane's row."""
        return wait_until(lambda: next((row for row in [self.row] if row["state"] in states), None), timeout_s=seconds)

    def send_prompt(self, text: str) -> None:
        self._scene.tmux("send-keys", "-t", self.mux_id, "-l", text)
        wait_until(lambda: text in self.screen)
        wait_until(self._is_still)
        self._scene.tmux("send-keys", "-t", self.mux_id, "Enter")

    def _is_still(self) -> bool:
        """Return True if the screen does not change: some agents treat an Enter right after a text as a part of it."""
        before = self.screen
        time.sleep(0.7)
        return self.screen == before

    def dismiss_dialog(self) -> None:
        """Press Escape until the dialog closes: a dialog that has just appeared ignores keys."""
        for _ in range(8):
            self._scene.tmux("send-keys", "-t", self.mux_id, "Escape")
            with suppress(AssertionError):
                self.wait_for_state(*AT_REST, seconds=5)
                return

    @property
    def screen(self) -> str:
        return self._scene.tmux("capture-pane", "-p", "-J", "-t", self.mux_id)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory) -> Iterator[dict[str, TrackedAgent]]:
    folder = tmp_path_factory.mktemp("agents")
    with run_model_server() as model, run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        agents = {
            program.name: TrackedAgent(scene, program, AgentFolders(folder / program.name, model))
            for program in PROGRAMS
        }
        yield agents


@pytest.mark.parametrize("name", [program.name for program in PROGRAMS])
def test_an_agent_is_tracked_from_start_to_exit(fleet, name):
    agent = fleet[name]
    row = agent.wait_for_state("idle", seconds=120)
    assert row["agent"] == NAMES.get(name, name)

    agent.send_prompt("MODEL slow 4")
    agent.wait_for_state("running")
    assert agent.wait_for_state(*AT_REST)["needs_action"] is False

    agent.send_prompt("MODEL shell touch made-by-the-agent")
    row_waiting = agent.wait_for_state("waiting_approval")
    assert row_waiting["needs_action"] is True
    wait_until(
        lambda: (agent.row["evidence_mode"] == "deterministic") is (name in REPORTING)
    )  # any source may be first
    agent.dismiss_dialog()
    agent.wait_for_state(*AT_REST)
    assert not (agent.place.cwd / "made-by-the-agent").exists()

    kill_processes_of(str(agent.place.folder))
    wait_until(lambda: agent.row["agent"] is None)


class UntrustedGemini(AgentProgram):
    """Gemini in an untrusted folder."""

    def prepare(self, place: AgentFolders) -> None:
        super().prepare(place)
        (place.home / ".gemini/trustedFolders.json").unlink()


def test_a_dialog_that_the_agent_does_not_report_is_detected_by_its_screen(tmp_path):
    with run_model_server() as model, run_watched_tmux() as scene:
        program = UntrustedGemini(GEMINI.name, GEMINI.binary, GEMINI.default_args, GEMINI.env)
        agent = TrackedAgent(scene, program, AgentFolders(tmp_path, model))
        row = agent.wait_for_state("waiting_approval", seconds=120)
        assert (row["evidence_mode"], row["needs_action"]) == ("heuristic", True)
        scene.tmux("send-keys", "-t", agent.mux_id, "Enter")
        assert agent.wait_for_state("idle", seconds=120)["evidence_mode"] == "deterministic"
