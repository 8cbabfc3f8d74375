"""Permission requests of the real Claude Code with the hooks of `visor setup agents`."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from termvisor.agents.adapters.claude_code import keyboard
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.agents.agent_programs import CLAUDE, AgentFolders
from tests.live.agents.claude_pane import ClaudePane
from tests.live.agents.model.server import run_model_server
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache

pytestmark = pytest.mark.live
DIALOG = "Do you want to proceed?"


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@dataclass
class WatchedClaude:
    """Claude Code in a captured pane, and the ``visor`` of a user elsewhere."""

    visor: VisorInstance
    agent_pane: ClaudePane

    def wait_for_request(self) -> dict:
        """Wait for an open request and return it."""
        return wait_until(lambda: call_robot(self.visor, "inbox")["items"])[0]

    def list_request_states(self) -> list[str]:
        return [item["state"] for item in call_robot(self.visor, "inbox", "--all")["items"]]

    def list_requested_files(self) -> list[str]:
        """Return the files that it requests to read."""
        return [json.loads(item["action"]["given"])["file_path"] for item in call_robot(self.visor, "inbox")["items"]]

    def find_dialog_file(self, files: tuple[str, ...]) -> str:
        """Return the file that its dialog is about; empty if no dialog is visible."""
        shown = self.agent_pane.capture_text()
        return next((file for file in files if f"Read({file})" in shown and DIALOG in shown), "")

    def list_audit_steps(self, correlation: str) -> list[tuple[str, str]]:
        items = call_robot(self.visor, "audit", "--limit", "50")["items"]
        return [(item["stage"], item["outcome"]) for item in items if item["correlation"] == correlation]

    def allow_in_dialog(self) -> None:
        """Allow in the agent's dialog, as a user at the pane."""
        self.agent_pane.wait_for_text(DIALOG)
        self.agent_pane.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "allow"))

    def has_file(self, name: str) -> bool:
        return (self.agent_pane.place.cwd / name).exists()


@contextmanager
def open_watched_claude(model: str) -> Iterator[WatchedClaude]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        install_pattern_cache(visor.paths)
        place = AgentFolders(Path(folder) / "claude", model)
        place.folder.mkdir()
        CLAUDE.prepare(place)
        visor.env = {**visor.env, "HOME": str(place.home)}
        visor.allow_changes()
        visor.run_checked("setup", "agents", "--agent", "claude_code", "--yes")
        agent_pane = ClaudePane(tmux, place, CLAUDE)
        agent_pane.start()
        visor.start()
        yield WatchedClaude(visor, agent_pane)


@pytest.fixture
def agent(model):
    with open_watched_claude(model) as claude:
        yield claude


def test_an_approval_runs_the_tool_once(agent: WatchedClaude) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    request = agent.wait_for_request()
    assert (request["kind"], request["action"]["tool"], request["action"]["command"]) == (
        "answer_agent",
        "Bash",
        "echo once >> made",
    )
    assert request["by"].startswith("agent ")
    assert "claude_code" in request["by"]
    assert request["pane"] is not None
    assert " approved" in agent.visor.run_at_terminal(f"approve {request['id']}", " approved")
    agent.agent_pane.wait_for_text("The tool has finished")
    assert (agent.agent_pane.place.cwd / "made").read_text() == "once\n"
    assert agent.list_audit_steps(request["correlation"]) == [
        ("asked", ""),
        ("answered", "allow"),
        ("intent", ""),
        ("outcome", "done"),
    ]
    assert agent.list_request_states() == ["used"]


def test_a_denial_stops_the_tool(agent: WatchedClaude) -> None:
    agent.agent_pane.send_prompt("MODEL shell touch made")
    request = agent.wait_for_request()
    agent.visor.run_checked("deny", str(request["id"]))
    wait_until(lambda: DIALOG not in agent.agent_pane.capture_text())
    assert not agent.has_file("made")
    assert agent.list_audit_steps(request["correlation"])[-1] == ("outcome", "denied")


def test_answering_the_agents_own_dialog_withdraws_the_request(agent: WatchedClaude) -> None:
    agent.agent_pane.send_prompt("MODEL shell touch made")
    request = agent.wait_for_request()
    agent.allow_in_dialog()
    wait_until(lambda: agent.has_file("made"))
    wait_until(lambda: agent.list_request_states() == ["withdrawn"])
    assert agent.list_audit_steps(request["correlation"])[-1] == ("outcome", "refused")


def test_concurrent_requests_are_withdrawn_one_by_one(agent: WatchedClaude) -> None:
    files = ("/etc/hostname", "/etc/hosts", "/etc/passwd")
    agent.agent_pane.send_prompt("MODEL tools " + " ;; ".join(f'Read {{"file_path":"{file}"}}' for file in files))
    wait_until(lambda: sorted(agent.list_requested_files()) == sorted(files))
    first = wait_until(lambda: agent.find_dialog_file(files))
    agent.agent_pane.wait_until_still()  # a dialog that has just appeared ignores keys
    agent.agent_pane.press("1")
    wait_until(lambda: sorted(agent.list_requested_files()) == sorted(set(files) - {first}))
    second = wait_until(lambda: agent.find_dialog_file(tuple(agent.list_requested_files())))
    (request,) = [item for item in call_robot(agent.visor, "inbox")["items"] if second not in item["action"]["given"]]
    assert agent.visor.run_at_terminal(f"approve {request['id']}", " approved")
    wait_until(lambda: agent.list_requested_files() == [second])
    agent.agent_pane.wait_until_still()
    agent.agent_pane.press("1")
    agent.agent_pane.wait_for_text("The tool has finished")
    wait_until(lambda: sorted(agent.list_request_states()) == ["used", "withdrawn", "withdrawn"])


def test_a_policy_rule_answers_without_a_request(agent: WatchedClaude) -> None:
    rule = '[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n'
    folder = agent.visor.paths.config_dir
    os.makedirs(folder, exist_ok=True)
    Path(folder, "policy.toml").write_text(rule)
    agent.agent_pane.send_prompt("MODEL shell touch made")
    agent.agent_pane.wait_for_text("The tool has finished")
    assert agent.has_file("made")
    assert agent.list_request_states() == []


def test_killing_the_daemon_leaves_the_answer_to_the_dialog(agent: WatchedClaude) -> None:
    agent.agent_pane.send_prompt("MODEL shell touch made")
    agent.wait_for_request()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.agent_pane.wait_for_text(DIALOG)
    assert not agent.has_file("made")
    agent.allow_in_dialog()
    agent.agent_pane.wait_for_text("The tool has finished")
    assert agent.has_file("made")
    wait_until(
        lambda: agent.list_request_states() == ["withdrawn"]
    )  # by the next daemon, which sees no dialog any more


def test_without_a_daemon_hooks_are_spooled_and_do_not_block(agent: WatchedClaude) -> None:
    agent.visor.stop()
    spool = Path(agent.visor.paths.spool_dir, "hooks.jsonl")
    agent.agent_pane.send_prompt("MODEL shell touch made")
    agent.allow_in_dialog()
    agent.agent_pane.wait_for_text("The tool has finished")
    wait_until(lambda: '"event":"Stop"' in spool.read_text())
    agent.visor.start()
    wait_until(lambda: any(item["records"] for item in _list_hook_sources(agent)))


def _list_hook_sources(agent: WatchedClaude) -> list[dict]:
    return [item for item in call_robot(agent.visor, "list-sources")["items"] if item["source"] == "hook"]
