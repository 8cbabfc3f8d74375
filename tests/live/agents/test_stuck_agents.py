"""Real agents with an unanswered dialog or without progress: the policy answers, and a nudge is sent once."""

from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = pytest.mark.live

POLICY = '[[rule]]\nid = "free"\nanswer = "{answer}"\nwhen = {{ actor = ["workflow"], kind = ["{kind}"] }}\n'
END_STATUSES = ("completed", "failed", "cancelled")


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with run_model_server() as address:
        yield address


def wait_for_ended_run(agent: WatchedAgent, workflow: str) -> dict:
    def list_ended_runs() -> list[dict]:
        found = call_robot(agent.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == workflow and run["status"] in END_STATUSES]

    return wait_until(list_ended_runs, timeout_s=150)[0]


@pytest.mark.timeout(240)
def test_an_unanswered_permission_dialog_is_answered_by_the_policy(model: str) -> None:
    settings = {"agent_inbox": "off", "workflow_modes": "answer_permission=on"}
    with start_watched_agent(CLAUDE, model, "mode on", settings=settings) as claude:
        claude.write_policy(POLICY.format(answer="allow", kind="answer_dialog"))
        assert claude.pane
        claude.agent_pane.send_prompt("MODEL shell touch made")
        claude.agent_pane.wait_for_text("Do you want to proceed?")
        run = wait_for_ended_run(claude, "answer_permission")
        assert (run["status"], run["why"].partition(";")[0]) == ("completed", "allowed once")
        wait_until(lambda: claude.get_path("made").exists())


@pytest.mark.timeout(240)
def test_a_stuck_agent_is_nudged_once_after_approval(model: str) -> None:
    settings = {"workflow_unstick_after": "10", "workflow_modes": "unstick=ask"}
    with start_watched_agent(CLAUDE, model, "mode on", settings=settings) as claude:
        assert claude.pane
        claude.agent_pane.send_prompt("MODEL stall 80")
        request = wait_until(lambda: call_robot(claude.visor, "inbox")["items"], timeout_s=70)[0]
        assert (request["kind"], request["by"].startswith("workflow")) == ("send_text", True)
        assert "no progress" in request["what"]
        claude.run_in_user_terminal(f"approve {request['id']}", " approved")
        run = wait_for_ended_run(claude, "unstick")
        assert "the nudge was sent" in run["why"]
        assert run["status"] == "completed"
