"""Real agents that wait unheard or get nowhere: a person's policy answers, and a nudge is typed once."""

from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

POLICY = '[[rule]]\nid = "free"\nanswer = "{answer}"\nwhen = {{ actor = ["workflow"], kind = ["{kind}"] }}\n'
ENDED = ("completed", "failed", "cancelled")


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with run_model_server() as address:
        yield address


def ended(one: WatchedAgent, workflow: str) -> dict:
    def over() -> list[dict]:
        found = call_robot(one.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == workflow and run["status"] in ENDED]

    return wait_until(over, timeout_s=150)[0]


@pytest.mark.timeout(240)
def test_a_request_that_came_to_nobody_is_answered_by_the_policy(model: str) -> None:
    settings = {"agent_inbox": "off", "workflow_modes": "answer_permission=on"}
    with start_watched_agent(CLAUDE, model, "mode on", settings=settings) as claude:
        claude.write_policy(POLICY.format(answer="allow", kind="answer_dialog"))
        assert claude.pane
        claude.agent_pane.send_prompt("MODEL shell touch made")
        claude.agent_pane.wait_for_text("Do you want to proceed?")
        run = ended(claude, "answer_permission")
        assert (run["status"], run["why"].partition(";")[0]) == ("completed", "allowed once")
        wait_until(lambda: claude.get_path("made").exists())


@pytest.mark.timeout(240)
def test_one_that_gets_nowhere_is_nudged_once_a_person_agrees(model: str) -> None:
    settings = {"workflow_unstick_after": "10", "workflow_modes": "unstick=ask"}
    with start_watched_agent(CLAUDE, model, "mode on", settings=settings) as claude:
        assert claude.pane
        claude.agent_pane.send_prompt("MODEL stall 80")
        asked = wait_until(lambda: call_robot(claude.visor, "inbox")["items"], timeout_s=70)[0]
        assert (asked["kind"], asked["by"].startswith("workflow")) == ("send_text", True)
        assert "no progress" in asked["what"]
        claude.run_as_person(f"approve {asked['id']}", " approved")
        run = ended(claude, "unstick")
        assert "the nudge was sent" in run["why"]
        assert run["status"] == "completed"
