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
from termvisor.testing.operation_calls import build_sample_services

WISH = ActionRequest(action=SendKeys(pane=1, keys=("C-c",)), preconditions=Preconditions(wait_for_answer=60.0))


class AskingDoor(FakeGate):
    """Asks until the question is answered."""

    async def run(self, action, terms) -> Outcome:
        self.executed.append((action, terms))
        if (await self.approvals.list())[:1]:
            raise NeedsApproval("a person must allow this first", details={"question": 1})
        return self.outcome


@pytest.mark.parametrize(("consent", "is_lasting"), [("once", False), ("session", True)])
async def test_a_person_s_consent_answers_their_own_question(consent, is_lasting) -> None:
    world = await build_sample_services()
    door = AskingDoor(world.clock)
    door.approvals.approvals += world.gate.approvals.approvals
    world.gate = door
    assert (await execute_with_approval(world, WISH, consent)).status == "done"
    assert door.approvals.approvals[0].state == "allowed"
    assert door.approvals.lasting_answers == ([1] if is_lasting else [])
    assert [terms.wait_for_answer for _, terms in door.executed] == [0.0, 0.0]


def test_what_a_pane_or_a_policy_says_cannot_move_the_reader_s_cursor() -> None:
    evil = "\x1b[2Jx\nvisor: forged"
    told = DryRunResult(what=evil, by=evil, answer="deny", why=evil, path=(evil,), refused="x", refused_why=evil)
    lines = render_dry_run_lines(told, RenderOptions())
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert "\x1b" not in render_action_result(ActionResult(status="unknown", text=evil), RenderOptions(), "done")
