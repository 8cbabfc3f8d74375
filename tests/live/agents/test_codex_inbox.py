"""The real Codex asks: the request comes to the inbox by its own server, and the answer goes back the same way."""

import signal

import pytest

from termvisor.agents.adapters.codex import keyboard as channel
from tests.live.agents.company import Company, company
from tests.live.agents.lab import CODEX
from tests.live.agents.model.server import model_server
from tests.live.waiting import until

pytestmark = pytest.mark.live
DIALOG = "Would you like to run the following command?"


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


@pytest.fixture
def agent(model):
    with company(CODEX, model, "Ask Codex") as one:
        assert one.pane
        yield one


def test_a_person_allows_it_and_it_is_done_once(agent: Company) -> None:
    agent.stage.prompt("MODEL shell echo once >> made")
    asked = agent.asked()
    action = asked["action"]
    assert (asked["kind"], action["agent"], action["tool"], asked["risk"]) == (
        "answer_agent",
        "codex",
        "shell",
        "process",
    )
    assert "echo once >> made" in action["command"]
    assert action["cwd"] == str(agent.stage.place.cwd)
    assert str(asked["pane"]) == agent.pane
    assert DIALOG in agent.stage.text()
    agent.person(f"approve {asked['id']}", "is allowed")
    agent.stage.shows("The tool has finished")
    assert agent.file("made").read_text() == "once\n"
    until(lambda: agent.states() == ["used"])
    until(lambda: agent.story(asked["correlation"])[-1] == ("outcome", "done", "answered"))
    assert [stage for stage, _, _ in agent.story(asked["correlation"])] == ["asked", "answered", "intent", "outcome"]

    agent.stage.prompt("MODEL shell touch second")
    asked = agent.asked()
    agent.visor.visor("deny", str(asked["id"]))
    until(lambda: DIALOG not in agent.stage.text())
    agent.stage.rests()
    assert not agent.file("second").exists()
    assert agent.story(asked["correlation"])[-1][:2] == ("outcome", "denied")


def test_an_answer_at_the_pane_withdraws_the_question(agent: Company) -> None:
    agent.stage.prompt("MODEL shell touch made")
    asked = agent.asked()
    agent.stage.press(*channel.answer(agent.stage.screen(), "allow").keys)
    until(lambda: agent.file("made").exists())
    until(lambda: agent.states() == ["withdrawn"])
    assert agent.story(asked["correlation"])[-1] == ("outcome", "refused", "withdrawn")


def test_a_rule_answers_at_once(agent: Company) -> None:
    agent.rule('[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n')
    agent.stage.prompt("MODEL shell touch made")
    agent.stage.shows("The tool has finished")
    assert agent.file("made").exists()
    assert agent.states() == []


def test_a_daemon_that_is_killed_leaves_it_to_the_dialog_and_the_next_one_asks_again(agent: Company) -> None:
    agent.stage.prompt("MODEL shell echo once >> made")
    agent.asked()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.stage.rests()
    assert DIALOG in agent.stage.text()
    assert not agent.file("made").exists()
    again = agent.asked()
    assert agent.states()[0] == "withdrawn"
    agent.person(f"approve {again['id']}", "is allowed")
    agent.stage.shows("The tool has finished")
    assert agent.file("made").read_text() == "once\n"
