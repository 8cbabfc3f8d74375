"""The real opencode with a server: what it tells is its state, and what it asks is answered by HTTP, once."""

import os
import signal
import socket
from functools import partial

import pytest

from tests.live.agents.company import Company, company
from tests.live.agents.lab import OPENCODE
from tests.live.agents.model.server import model_server
from tests.live.waiting import until as until_within

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
READY, DIALOG = "Ask anything", "Permission required"
until = partial(until_within, seconds=90)
"""Its first turn may take long where it has to share a machine."""


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


def free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.fixture
def agent(model):
    with company(OPENCODE, model, READY, words=("--port", free_port())) as one:
        assert one.pane
        until(one.heard_by_server)
        yield one


def led_by(agent: Company) -> tuple[str, str]:
    """Its state, and the source that decided it."""
    told = agent.explained()
    return told["agent"]["state"], (told["evidence"] or {"source": ""})["source"]


def test_a_person_allows_it_and_it_is_done_once(agent: Company) -> None:
    agent.stage.prompt("MODEL shell echo once >> made")
    asked = agent.asked()
    action = asked["action"]
    assert (asked["kind"], action["agent"], action["tool"]) == ("answer_agent", "opencode", "bash")
    assert action["command"] == "echo once >> made"
    assert action["cwd"] == str(agent.stage.place.cwd)
    assert str(asked["pane"]) == agent.pane
    assert DIALOG in agent.stage.text()
    assert led_by(agent) == ("waiting_approval", "server")
    agent.person(f"approve {asked['id']}", "is allowed")
    agent.stage.shows("The tool has finished", 90)
    assert agent.file("made").read_text() == "once\n"
    until(lambda: agent.states() == ["used"])
    until(lambda: agent.story(asked["correlation"])[-1] == ("outcome", "done", "answered"))
    assert [stage for stage, _, _ in agent.story(asked["correlation"])] == ["asked", "answered", "intent", "outcome"]

    until(lambda: agent.state() in ("completed", "idle"))
    agent.stage.prompt("MODEL shell touch second")
    asked = agent.asked()
    agent.visor.visor("deny", str(asked["id"]))
    until(lambda: DIALOG not in agent.stage.text())
    until(lambda: agent.state() == "idle")
    assert not agent.file("second").exists()
    assert agent.story(asked["correlation"])[-1][:2] == ("outcome", "denied")


def test_an_answer_at_the_pane_withdraws_the_question(agent: Company) -> None:
    agent.stage.prompt("MODEL shell touch made")
    asked = agent.asked()
    agent.stage.press("Escape")
    until(lambda: agent.states() == ["withdrawn"])
    assert agent.story(asked["correlation"])[-1] == ("outcome", "refused", "withdrawn")
    assert not agent.file("made").exists()


def test_a_rule_answers_at_once(agent: Company) -> None:
    agent.rule('[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n')
    agent.stage.prompt("MODEL shell touch made")
    agent.stage.shows("The tool has finished", 90)
    assert agent.file("made").exists()
    assert agent.states() == []


def test_its_server_tells_every_state(agent: Company) -> None:
    until(lambda: led_by(agent) == ("idle", "server"))
    agent.stage.prompt("MODEL slow 6")
    until(lambda: led_by(agent) == ("running", "server"))
    until(lambda: led_by(agent) == ("completed", "server"))
    assert agent.server()["lag"] is not None
    agent.stage.prompt("MODEL fail 401")
    until(lambda: led_by(agent) == ("error", "server"))
    agent.stage.prompt('MODEL tool question {"questions":[{"question":"Which?","header":"DB","options":[]}]}')
    until(lambda: led_by(agent) == ("waiting_input", "server"))
    agent.stage.press("Escape")
    until(lambda: led_by(agent) == ("idle", "server"))


def test_it_is_prompted_and_interrupted_by_its_server(agent: Company) -> None:
    pane = agent.pane
    agent.stage.prompt("MODEL text hello there")
    until(lambda: agent.state() == "completed")
    until(lambda: agent.stage.tmux.ask(agent.stage.pane, "#{pane_title}").startswith("OC | "))
    sent = agent.act("send", pane, "/is this a file or a command? MODEL slow 40")
    assert (sent["status"], sent["why"], sent["channel"]) == ("delivered", "turn_started", "native")
    done = agent.act("interrupt", pane)
    assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "native")
    agent.stage.shows("interrupted", 90)
    until(lambda: agent.state() == "idle")
    assert agent.refused("interrupt", pane) == "not_at_work"


def test_a_server_that_falls_silent_is_not_believed_and_one_that_speaks_again_is(agent: Company) -> None:
    agent.stage.prompt("MODEL slow 600")
    agent.stage.shows("esc interrupt", 90)
    until(lambda: led_by(agent) == ("running", "server"))
    pid = int(agent.server()["where"].rpartition(" ")[2])
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: agent.server()["status"] == "down")
        until(lambda: led_by(agent) == ("running", "screen"))
    finally:
        os.kill(pid, signal.SIGCONT)
    until(agent.heard_by_server)
    until(lambda: led_by(agent) == ("running", "server"))
    os.kill(pid, signal.SIGKILL)
    until(lambda: agent.state() == "")


def test_a_daemon_that_is_killed_leaves_it_to_the_dialog_and_the_next_one_asks_again(agent: Company) -> None:
    agent.stage.prompt("MODEL shell echo once >> made")
    agent.asked()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.stage.rests()
    assert DIALOG in agent.stage.text()
    again = agent.asked()
    assert agent.states()[0] == "withdrawn"
    agent.person(f"approve {again['id']}", "is allowed")
    agent.stage.shows("The tool has finished", 90)
    assert agent.file("made").read_text() == "once\n"


def test_without_a_port_it_is_known_by_its_screen_and_that_is_said(model: str) -> None:
    with company(OPENCODE, model, READY) as one:
        assert one.pane
        until(lambda: one.server()["status"] == "absent")
        assert "--port" in one.server()["detail"]
        until(lambda: led_by(one) == ("idle", "screen"))
        one.stage.prompt("MODEL shell touch made")
        one.stage.shows(DIALOG, 90)
        until(lambda: led_by(one) == ("waiting_approval", "screen"))
        assert one.states() == [], "its dialog has no keys for a sure yes"
