import pytest

from termvisor.errors import NeedsApproval
from termvisor.model.action.action import SendKeys
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    DryRunResult,
    execute_with_approval,
    render_action_result,
    render_dry_run_lines,
)
from termvisor.ops.render.text import RenderOptions
from termvisor.testing.fake_gate import FakeGate
from termvisor.testing.sample_services import build_sample_services

REQUEST = ActionRequest(action=SendKeys(pane=1, keys=("C-c",)), preconditions=Preconditions(wait_for_answer=60.0))


class AskingDoor(FakeGate):
    """Asks until the question is answered."""

    async def run(self, action, preconditions) -> Outcome:
        self.executed.append((action, preconditions))
        if (await self.approvals.list())[:1]:
            raise NeedsApproval("a person must allow this first", details={"question": 1})
        return self.outcome


@pytest.mark.parametrize(("consent", "is_lasting"), [("once", False), ("session", True)])
async def test_approval_in_advance_answers_the_request(consent, is_lasting) -> None:
    services = await build_sample_services()
    door = AskingDoor(services.clock)
    door.approvals.approvals += services.gate.approvals.approvals
    services.gate = door
    assert (await execute_with_approval(services, REQUEST, consent)).status == "done"
    assert door.approvals.approvals[0].state == "allowed"
    assert door.approvals.lasting_answers == ([1] if is_lasting else [])
    assert [preconditions.wait_for_answer for _, preconditions in door.executed] == [0.0, 0.0]


def test_text_of_panes_and_policies_is_sanitized() -> None:
    evil = "\x1b[2Jx\nvisor: forged"
    told = DryRunResult(what=evil, by=evil, answer="deny", why=evil, path=(evil,), refused="x", refused_why=evil)
    lines = render_dry_run_lines(told, RenderOptions())
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert "\x1b" not in render_action_result(ActionResult(status="unknown", text=evil), RenderOptions(), "done")
