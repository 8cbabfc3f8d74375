"""The real opencode with a server: what it tells is its state, and what it asks is answered by HTTP, once."""

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
until = partial(until_within, timeout_s=90)
"""Its first turn may take long where it has to share a machine."""


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


def free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.fixture
def agent(model):
    with start_watched_agent(OPENCODE, model, READY, args=("--port", free_port())) as one:
        assert one.pane
        until(one.is_server_connected)
        yield one


def led_by(agent: WatchedAgent) -> tuple[str, str]:
    """Its state, and the source that decided it."""
    told = agent.explain()
    return told["agent"]["state"], (told["evidence"] or {"source": ""})["source"]


def test_a_person_allows_it_and_it_is_done_once(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    asked = agent.wait_for_approval()
    action = asked["action"]
    assert (asked["kind"], action["agent"], action["tool"]) == ("answer_agent", "opencode", "bash")
    assert action["command"] == "echo once >> made"
    assert action["cwd"] == str(agent.agent_pane.place.cwd)
    assert str(asked["pane"]) == agent.pane
    assert DIALOG in agent.agent_pane.capture_text()
    assert led_by(agent) == ("waiting_approval", "server")
    agent.run_as_person(f"approve {asked['id']}", " approved")
    agent.agent_pane.wait_for_text("The tool has finished", 90)
    assert agent.get_path("made").read_text() == "once\n"
    until(lambda: agent.list_approval_states() == ["used"])
    until(lambda: agent.list_audit_steps(asked["correlation"])[-1] == ("outcome", "done", "answered"))
    assert [stage for stage, _, _ in agent.list_audit_steps(asked["correlation"])] == [
        "asked",
        "answered",
        "intent",
        "outcome",
    ]

    until(lambda: agent.get_state() in ("completed", "idle"))
    agent.agent_pane.send_prompt("MODEL shell touch second")
    asked = agent.wait_for_approval()
    agent.visor.run_checked("deny", str(asked["id"]))
    until(lambda: DIALOG not in agent.agent_pane.capture_text())
    until(lambda: agent.get_state() == "idle")
    assert not agent.get_path("second").exists()
    assert agent.list_audit_steps(asked["correlation"])[-1][:2] == ("outcome", "denied")


def test_an_answer_at_the_pane_withdraws_the_question(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell touch made")
    asked = agent.wait_for_approval()
    agent.agent_pane.press("Escape")
    until(lambda: agent.list_approval_states() == ["withdrawn"])
    assert agent.list_audit_steps(asked["correlation"])[-1] == ("outcome", "refused", "withdrawn")
    assert not agent.get_path("made").exists()


def test_a_rule_answers_at_once(agent: WatchedAgent) -> None:
    agent.write_policy(
        '[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n'
    )
    agent.agent_pane.send_prompt("MODEL shell touch made")
    agent.agent_pane.wait_for_text("The tool has finished", 90)
    assert agent.get_path("made").exists()
    assert agent.list_approval_states() == []


def test_its_server_tells_every_state(agent: WatchedAgent) -> None:
    until(lambda: led_by(agent) == ("idle", "server"))
    agent.agent_pane.send_prompt("MODEL slow 6")
    until(lambda: led_by(agent) == ("running", "server"))
    until(lambda: led_by(agent) == ("completed", "server"))
    assert agent.get_server_health()["lag"] is not None
    agent.agent_pane.send_prompt("MODEL fail 401")
    until(lambda: led_by(agent) == ("error", "server"))
    agent.agent_pane.send_prompt('MODEL tool question {"questions":[{"question":"Which?","header":"DB","options":[]}]}')
    until(lambda: led_by(agent) == ("waiting_input", "server"))
    agent.agent_pane.press("Escape")
    until(lambda: led_by(agent) == ("idle", "server"))


def test_it_is_prompted_and_interrupted_by_its_server(agent: WatchedAgent) -> None:
    pane = agent.pane
    agent.agent_pane.send_prompt("MODEL text hello there")
    until(lambda: agent.get_state() == "completed")
    until(lambda: agent.agent_pane.tmux.read_format(agent.agent_pane.pane, "#{pane_title}").startswith("OC | "))
    sent = agent.run_allowed("send", pane, "/is this a file or a command? MODEL slow 40")
    assert (sent["status"], sent["why"], sent["channel"]) == ("delivered", "turn_started", "native")
    done = agent.run_allowed("interrupt", pane)
    assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "native")
    agent.agent_pane.wait_for_text("interrupted", 90)
    until(lambda: agent.get_state() == "idle")
    assert agent.get_refusal_reason("interrupt", pane) == "not_at_work"


def test_a_server_that_falls_silent_is_not_believed_and_one_that_speaks_again_is(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL slow 600")
    agent.agent_pane.wait_for_text("esc interrupt", 90)
    until(lambda: led_by(agent) == ("running", "server"))
    pid = int(agent.get_server_health()["where"].rpartition(" ")[2])
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: agent.get_server_health()["status"] == "down")
        until(lambda: led_by(agent) == ("running", "screen"))
    finally:
        os.kill(pid, signal.SIGCONT)
    until(agent.is_server_connected)
    until(lambda: led_by(agent) == ("running", "server"))
    os.kill(pid, signal.SIGKILL)
    until(lambda: agent.get_state() == "")


def test_a_daemon_that_is_killed_leaves_it_to_the_dialog_and_the_next_one_asks_again(agent: WatchedAgent) -> None:
    agent.agent_pane.send_prompt("MODEL shell echo once >> made")
    agent.wait_for_approval()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.agent_pane.wait_until_still()
    assert DIALOG in agent.agent_pane.capture_text()
    again = agent.wait_for_approval()
    assert agent.list_approval_states()[0] == "withdrawn"
    agent.run_as_person(f"approve {again['id']}", " approved")
    agent.agent_pane.wait_for_text("The tool has finished", 90)
    assert agent.get_path("made").read_text() == "once\n"


def test_without_a_port_it_is_known_by_its_screen_and_that_is_said(model: str) -> None:
    with start_watched_agent(OPENCODE, model, READY) as one:
        assert one.pane
        until(lambda: one.get_server_health()["status"] == "absent")
        assert "--port" in one.get_server_health()["detail"]
        until(lambda: led_by(one) == ("idle", "screen"))
        one.agent_pane.send_prompt("MODEL shell touch made")
        one.agent_pane.wait_for_text(DIALOG, 90)
        until(lambda: led_by(one) == ("waiting_approval", "screen"))
        assert one.list_approval_states() == [], "its dialog has no keys for a sure yes"
