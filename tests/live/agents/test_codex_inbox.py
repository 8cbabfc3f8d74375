"""Permission requests of the real Codex: request and answer both go through its server."""

import signal

import pytest

from termvisor.agents.adapters.codex import keyboard
from tests.live.agents.agent_programs import CODEX
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until

pytestmark = pytest.mark.live
DIALOG = "Would you like to run the following command?"


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture
def agent(model):
    with start_watched_agent(CODEX, model, "Ask Codex") as watched_agent:
        assert watched_agent.pane
        yield watched_agent


def test_an_approval_runs_the_tool_once_and_a_denial_stops_it(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    request = agent.wait_for_approval()
    action = request["action"]
    assert (request["kind"], action["agent"], action["tool"], request["risk"]) == (
        "answer_agent",
        "codex",
        "shell",
        "process",
    )
    assert "echo once >> made" in action["command"]
    assert action["cwd"] == str(agent.agent_pane.place.cwd)
    assert str(request["pane"]) == agent.pane
    assert DIALOG in agent.agent_pane.capture_text()
    agent.run_in_user_terminal(f"approve {request['id']}", " approved")
    agent.agent_pane.wait_for_text("The tool has finished")
    assert agent.get_path("made").read_text() == "once\n"
    wait_until(lambda: agent.list_approval_states() == ["used"])
    wait_until(lambda: agent.list_audit_steps(request["correlation"])[-1] == ("outcome", "done", "answered"))
    assert [stage for stage, _, _ in agent.list_audit_steps(request["correlation"])] == [
        "asked",
        "answered",
        "intent",
        "outcome",
    ]

    agent.agent_pane.send_prompt("MODEL shell touch second")
    request = agent.wait_for_approval()
    agent.visor.run_checked("deny", str(request["id"]))
    wait_until(lambda: DIALOG not in agent.agent_pane.capture_text())
    agent.agent_pane.wait_until_still()
    assert not agent.get_path("second").exists()
    assert agent.list_audit_steps(request["correlation"])[-1][:2] == ("outcome", "denied")


def test_an_answer_at_the_pane_withdraws_the_request(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell touch made")
    request = agent.wait_for_approval()
    agent.agent_pane.press(*keyboard.find_answer_keys(agent.agent_pane.capture_screen(), "allow").keys)
    wait_until(lambda: agent.get_path("made").exists())
    wait_until(lambda: agent.list_approval_states() == ["withdrawn"])
    assert agent.list_audit_steps(request["correlation"])[-1] == ("outcome", "refused", "withdrawn")


def test_a_policy_rule_answers_without_a_request(agent: WatchedAgent) -> None:
    agent.write_policy(
        '[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n'
    )
    agent.agent_pane.send_prompt("MODEL shell touch made")
    agent.agent_pane.wait_for_text("The tool has finished")
    assert agent.get_path("made").exists()
    assert agent.list_approval_states() == []


def test_a_restarted_daemon_keeps_the_request(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    request = agent.wait_for_approval()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.agent_pane.wait_until_still()
    assert DIALOG in agent.agent_pane.capture_text()
    assert not agent.get_path("made").exists()
    assert agent.wait_for_approval()["id"] == request["id"]
    agent.run_in_user_terminal(f"approve {request['id']}", "verified by the agent's server")
    agent.agent_pane.wait_for_text("The tool has finished")
    assert agent.get_path("made").read_text() == "once\n"
