"""The inbox with two real agents that wait: what a person sees, answers, and gets told."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE, CODEX, AgentFolders
from tests.live.agents.codex_home import CodexPane
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live


class TwoAgents:
    def __init__(self, claude: WatchedAgent, codex: CodexPane):
        self.claude, self.codex, self.visor = claude, codex, claude.visor

    def list_requests(self, *words: str) -> list[dict]:
        return call_robot(self.visor, "inbox", *words)["items"]

    def wait_for_requests(self, count: int) -> dict[str, dict]:
        """Return the open requests by agent."""
        wait_until(lambda: len(self.list_requests()) == count, timeout_s=90)
        return {item["action"]["agent"]: item for item in self.list_requests()}

    def show(self, words: str, columns: int) -> str:
        """Return what a person sees at a terminal of this width."""
        self.visor.env = {**self.visor.env, "COLUMNS": str(columns)}
        return self.visor.run_at_terminal(words, "")


@pytest.fixture
def agents() -> Iterator[TwoAgents]:
    with run_model_server() as model, start_watched_agent(CLAUDE, model, "mode on") as claude:
        place = AgentFolders(Path(claude.agent_pane.place.folder).parent / "codex", model)
        place.folder.mkdir()
        CODEX.prepare(place)
        codex = CodexPane(claude.agent_pane.tmux, place, CODEX)
        codex.start("Ask Codex")
        yield TwoAgents(claude, codex)


def test_requests_survive_a_kill_and_are_answered_with_their_outcome(agents: TwoAgents) -> None:
    agents.claude.agent_pane.send_prompt("MODEL shell touch made")
    agents.codex.send_prompt("MODEL shell touch made")
    before = agents.wait_for_requests(2)
    assert [item["expires_at"] for item in before.values()] == [None, None]
    for columns in (60, 80, 120, 200):
        for words in ("inbox", "status", "next"):
            assert "visor approve" in agents.show(words, columns)
        inbox = re.sub(r"\x1b\[[0-9;]*m", "", agents.show("inbox", columns))
        assert max(map(len, inbox.splitlines())) <= columns
        assert "touch m" in inbox

    agents.visor.kill_daemon(signal.SIGKILL)
    known = {item["correlation"] for item in before.values()}
    # The dialogs are reported again, each by the same route or by another one.
    wait_until(lambda: not known & {item["correlation"] for item in agents.list_requests()}, timeout_s=90)
    after = agents.wait_for_requests(2)
    for name, item in after.items():
        assert item["asked_at"] == before[name]["asked_at"]
        assert (item["id"] == before[name]["id"]) == (item["what"] == before[name]["what"]), "a number keeps its text"

    claude, codex = after["claude_code"]["id"], after["codex"]["id"]
    agents.visor.run_at_terminal(f"approve {codex}", "answered; verified")
    wait_until((agents.codex.place.cwd / "made").exists)
    denied = agents.visor.run_at_terminal(f"deny {claude} --reason 'MODEL text use make'", "the dialog has closed")
    assert "the reason was sent as a prompt: delivered" in denied
    agents.claude.agent_pane.wait_for_text("use make")
    assert not agents.claude.get_path("made").exists()


def test_an_answer_at_the_pane_and_an_exit_close_the_requests_with_their_outcome(agents: TwoAgents) -> None:
    agents.claude.agent_pane.send_prompt("MODEL shell touch made")
    agents.codex.send_prompt("MODEL shell touch made")
    agents.wait_for_requests(2)
    agents.claude.agent_pane.press("Escape")
    agents.codex.tmux("respawn-pane", "-k", "-t", agents.codex.pane, "sh")
    agents.wait_for_requests(0)
    closed = {item["action"]["agent"]: item["outcome_why"] for item in agents.list_requests("--all")}
    assert closed == {"claude_code": "answered_at_pane", "codex": "agent_gone"}
