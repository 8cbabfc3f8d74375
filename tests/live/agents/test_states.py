"""All agents at once, as a user has them: in panes of one tmux, with no hooks, and the daemon tells what each does."""

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
TOLD = ("claude", "codex", "copilot", "gemini")
"""Those that speak for themselves without any set-up."""
AT_REST = {"idle", "completed"}


class Desk:
    """One agent in its pane, and what is said of it."""

    def __init__(self, scene: WatchedTmux, program: AgentProgram, place: AgentFolders):
        self._scene, self.program, self.place = scene, program, place
        program.prepare(place)
        self.mux_id = scene.tmux.start_session(program.name, "bash --norc", width=110, height=36)
        scene.tmux.type_line(self.mux_id, program.build_command(place).replace("&& exec ", "&& "))

    @property
    def row(self) -> dict:
        return next(item for item in self._scene.list_panes() if item["identity"]["pane_id"] == self.mux_id)

    def becomes(self, *states: str | None, seconds: float = 40.0) -> dict:
        """The pane's row once the agent is in one of these states."""
        return wait_until(lambda: next((row for row in [self.row] if row["state"] in states), None), timeout_s=seconds)

    def prompt(self, text: str) -> None:
        self._scene.tmux("send-keys", "-t", self.mux_id, "-l", text)
        wait_until(lambda: text in self.screen)
        wait_until(self._stands_still)
        self._scene.tmux("send-keys", "-t", self.mux_id, "Enter")

    def _stands_still(self) -> bool:
        """Some agents take an Enter that comes close behind a text for a part of it."""
        before = self.screen
        time.sleep(0.7)
        return self.screen == before

    def refuse(self) -> None:
        """A dialog that has just appeared takes no keys yet: the key is pressed again while it stands there."""
        for _ in range(8):
            self._scene.tmux("send-keys", "-t", self.mux_id, "Escape")
            with suppress(AssertionError):
                self.becomes(*AT_REST, seconds=5)
                return

    @property
    def screen(self) -> str:
        return self._scene.tmux("capture-pane", "-p", "-J", "-t", self.mux_id)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory) -> Iterator[dict[str, Desk]]:
    folder = tmp_path_factory.mktemp("agents")
    with run_model_server() as model, run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        desks = {one.name: Desk(scene, one, AgentFolders(folder / one.name, model)) for one in PROGRAMS}
        yield desks


@pytest.mark.parametrize("name", [one.name for one in PROGRAMS])
def test_an_agent_is_known_from_its_start_to_its_end(fleet, name):
    desk = fleet[name]
    row = desk.becomes("idle", seconds=120)
    assert row["agent"] == NAMES.get(name, name)

    desk.prompt("MODEL slow 4")
    desk.becomes("running")
    assert desk.becomes(*AT_REST)["needs_action"] is False

    desk.prompt("MODEL shell touch made-by-the-agent")
    asking = desk.becomes("waiting_approval")
    assert asking["needs_action"] is True
    wait_until(lambda: (desk.row["evidence_mode"] == "deterministic") is (name in TOLD))  # whoever spoke first
    desk.refuse()
    desk.becomes(*AT_REST)
    assert not (desk.place.cwd / "made-by-the-agent").exists()

    kill_processes_of(str(desk.place.folder))
    wait_until(lambda: desk.row["agent"] is None)


class Strange(AgentProgram):
    """Gemini, in a folder that nobody trusts yet."""

    def prepare(self, place: AgentFolders) -> None:
        super().prepare(place)
        (place.home / ".gemini/trustedFolders.json").unlink()


def test_a_dialog_of_which_the_agent_has_no_word_is_known_by_its_screen(tmp_path):
    with run_model_server() as model, run_watched_tmux() as scene:
        program = Strange(GEMINI.name, GEMINI.binary, GEMINI.default_args, GEMINI.env)
        desk = Desk(scene, program, AgentFolders(tmp_path, model))
        row = desk.becomes("waiting_approval", seconds=120)
        assert (row["evidence_mode"], row["needs_action"]) == ("heuristic", True)
        scene.tmux("send-keys", "-t", desk.mux_id, "Enter")
        assert desk.becomes("idle", seconds=120)["evidence_mode"] == "deterministic"
