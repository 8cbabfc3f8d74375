"""The real opencode with a server: it reports the states, and requests are answered once by HTTP."""

import os
import signal
import socket
from functools import partial

import pytest

from tests.live.agents.agent_programs import OPENCODE
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until as until_within

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
READY, DIALOG = "Ask anything", "Permission required"
wait = partial(until_within, timeout_s=90)
"""Its first turn may take long on a busy machine."""


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


def find_free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.fixture
def agent(model):
    with start_watched_agent(OPENCODE, model, READY, args=("--port", find_free_port())) as watched_agent:
        assert watched_agent.pane
        wait(watched_agent.is_server_connected)
        yield watched_agent


def get_state_and_source(agent: WatchedAgent) -> tuple[str, str]:
    """Return its state and the deciding source."""
    explanation = agent.explain()
    return explanation["agent"]["state"], (explanation["evidence"] or {"source": ""})["source"]


def test_an_approval_runs_the_tool_once_and_a_denial_stops_it(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    request = agent.wait_for_approval()
    action = request["action"]
    assert (request["kind"], action["agent"], action["tool"]) == ("answer_agent", "opencode", "bash")
    assert action["command"] == "echo once >> made"
    assert action["cwd"] == str(agent.agent_pane.place.cwd)
    assert str(request["pane"]) == agent.pane
    assert DIALOG in agent.agent_pane.capture_text()
    assert get_state_and_source(agent) == ("waiting_approval", "server")
    agent.run_in_user_terminal(f"approve {request['id']}", " approved")
    agent.agent_pane.wait_for_text("The tool has finished", 90)
    assert agent.get_path("made").read_text() == "once\n"
    wait(lambda: agent.list_approval_states() == ["used"])
    wait(lambda: agent.list_audit_steps(request["correlation"])[-1] == ("outcome", "done", "answered"))
    assert [stage for stage, _, _ in agent.list_audit_steps(request["correlation"])] == [
        "asked",
        "answered",
        "intent",
        "outcome",
    ]

    wait(lambda: agent.get_state() in ("completed", "idle"))
    agent.agent_pane.send_prompt("MODEL shell touch second")
    request = agent.wait_for_approval()
    agent.visor.run_checked("deny", str(request["id"]))
    wait(lambda: DIALOG not in agent.agent_pane.capture_text())
    wait(lambda: agent.get_state() == "idle")
    assert not agent.get_path("second").exists()
    assert agent.list_audit_steps(request["correlation"])[-1][:2] == ("outcome", "denied")


def test_an_answer_at_the_pane_withdraws_the_request(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell touch made")
    request = agent.wait_for_approval()
    agent.agent_pane.press("Escape")
    wait(lambda: agent.list_approval_states() == ["withdrawn"])
    assert agent.list_audit_steps(request["correlation"])[-1] == ("outcome", "refused", "withdrawn")
    assert not agent.get_path("made").exists()


def test_a_policy_rule_answers_without_a_request(agent: WatchedAgent) -> None:
    agent.write_policy(
        '[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n'
    )
    agent.agent_pane.send_prompt("MODEL shell touch made")
    agent.agent_pane.wait_for_text("The tool has finished", 90)
    assert agent.get_path("made").exists()
    assert agent.list_approval_states() == []


def test_the_server_reports_every_state(agent: WatchedAgent) -> None:
    wait(lambda: get_state_and_source(agent) == ("idle", "server"))
    agent.agent_pane.send_prompt("MODEL slow 6")
    wait(lambda: get_state_and_source(agent) == ("running", "server"))
    wait(lambda: get_state_and_source(agent) == ("completed", "server"))
    assert agent.get_server_health()["lag"] is not None
    agent.agent_pane.send_prompt("MODEL fail 401")
    wait(lambda: get_state_and_source(agent) == ("error", "server"))
    agent.agent_pane.send_prompt('MODEL tool question {"questions":[{"question":"Which?","header":"DB","options":[]}]}')
    wait(lambda: get_state_and_source(agent) == ("waiting_input", "server"))
    agent.agent_pane.press("Escape")
    wait(lambda: get_state_and_source(agent) == ("idle", "server"))


def test_opencode_is_prompted_and_interrupted_through_its_server(agent: WatchedAgent) -> None:
    pane = agent.pane
    agent.agent_pane.send_prompt("MODEL text hello there")
    wait(lambda: agent.get_state() == "completed")
    wait(lambda: agent.agent_pane.tmux.read_format(agent.agent_pane.pane, "#{pane_title}").startswith("OC | "))
    sent = agent.run_allowed("send", pane, "/is this a file or a command? MODEL slow 40")
    assert (sent["status"], sent["why"], sent["channel"]) == ("delivered", "turn_started", "native")
    done = agent.run_allowed("interrupt", pane)
    assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "native")
    agent.agent_pane.wait_for_text("interrupted", 90)
    wait(lambda: agent.get_state() == "idle")
    assert agent.get_refusal_reason("interrupt", pane) == "not_at_work"


def test_a_stopped_server_is_replaced_by_the_screen_until_it_answers_again(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL slow 600")
    agent.agent_pane.wait_for_text("esc interrupt", 90)
    wait(lambda: get_state_and_source(agent) == ("running", "server"))
    pid = int(agent.get_server_health()["where"].rpartition(" ")[2])
    os.kill(pid, signal.SIGSTOP)
    try:
        wait(lambda: agent.get_server_health()["status"] == "down")
        wait(lambda: get_state_and_source(agent) == ("running", "screen"))
    finally:
        os.kill(pid, signal.SIGCONT)
    wait(agent.is_server_connected)
    wait(lambda: get_state_and_source(agent) == ("running", "server"))
    os.kill(pid, signal.SIGKILL)
    wait(lambda: agent.get_state() == "")


def test_a_restarted_daemon_keeps_the_request(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    request = agent.wait_for_approval()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.agent_pane.wait_until_still()
    assert DIALOG in agent.agent_pane.capture_text()
    assert agent.wait_for_approval()["id"] == request["id"]
    agent.run_in_user_terminal(f"approve {request['id']}", "verified by the agent's server")
    agent.agent_pane.wait_for_text("The tool has finished", 90)
    assert agent.get_path("made").read_text() == "once\n"


def test_without_a_port_opencode_is_tracked_by_its_screen_and_health_says_why(model: str) -> None:
    with start_watched_agent(OPENCODE, model, READY) as watched_agent:
        assert watched_agent.pane
        wait(lambda: watched_agent.get_server_health()["status"] == "absent")
        assert "--port" in watched_agent.get_server_health()["detail"]
        wait(lambda: get_state_and_source(watched_agent) == ("idle", "screen"))
        watched_agent.agent_pane.send_prompt("MODEL shell touch made")
        watched_agent.agent_pane.wait_for_text(DIALOG, 90)
        wait(lambda: get_state_and_source(watched_agent) == ("waiting_approval", "screen"))
        assert watched_agent.wait_for_approval()["action"]["tool"] == "dialog"
