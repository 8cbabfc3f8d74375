"""Real agents that wait unheard or get nowhere: a person's policy answers, and a nudge is typed once."""

from collections.abc import Iterator

import pytest

from tests.live.agents.company import Company, company
from tests.live.agents.lab import CLAUDE
from tests.live.agents.model.server import model_server
from tests.live.looking import look
from tests.live.waiting import until

pytestmark = pytest.mark.live

POLICY = '[[rule]]\nid = "free"\nanswer = "{answer}"\nwhen = {{ actor = ["workflow"], kind = ["{kind}"] }}\n'
ENDED = ("completed", "failed", "cancelled")


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server() as address:
        yield address


def ended(one: Company, workflow: str) -> dict:
    def over() -> list[dict]:
        found = look(one.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == workflow and run["status"] in ENDED]

    return until(over, seconds=150)[0]


@pytest.mark.timeout(240)
def test_a_request_that_came_to_nobody_is_answered_by_the_policy(model: str) -> None:
    settings = {"agent_inbox": "off", "workflow_modes": "answer_permission=on"}
    with company(CLAUDE, model, "mode on", settings=settings) as claude:
        claude.rule(POLICY.format(answer="allow", kind="answer_dialog"))
        assert claude.pane
        claude.stage.prompt("MODEL shell touch made")
        claude.stage.shows("Do you want to proceed?")
        run = ended(claude, "answer_permission")
        assert (run["status"], run["why"].partition(";")[0]) == ("completed", "allowed, this once")
        until(lambda: claude.file("made").exists())


@pytest.mark.timeout(240)
def test_one_that_gets_nowhere_is_nudged_once_a_person_agrees(model: str) -> None:
    settings = {"workflow_unstick_after": "10", "workflow_modes": "unstick=ask"}
    with company(CLAUDE, model, "mode on", settings=settings) as claude:
        assert claude.pane
        claude.stage.prompt("MODEL stall 80")
        asked = until(lambda: look(claude.visor, "inbox")["items"], seconds=70)[0]
        assert (asked["kind"], asked["by"].startswith("workflow")) == ("send_text", True)
        assert "no progress" in asked["what"]
        claude.person(f"approve {asked['id']}", "is allowed")
        run = ended(claude, "unstick")
        assert "the nudge was sent" in run["why"]
        assert run["status"] == "completed"
