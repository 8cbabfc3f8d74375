import pytest

from termvisor.errors import BadRequest, NeedsApproval
from termvisor.model.action.action import SendKeys
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.input._action_operation import (
    ActionArgs,
    ActionRequest,
    ActionResult,
    DryRunResult,
    PreconditionArgs,
    build_preconditions,
    execute_with_approval,
    render_action_result,
    render_dry_run_lines,
)
from termvisor.ops.render.text import RenderOptions
from termvisor.testing.fake_gate import FakeGate
from termvisor.testing.sample_services import build_sample_services


def test_defaults_give_default_preconditions() -> None:
    assert build_preconditions(ActionArgs()) == build_preconditions(PreconditionArgs()) == Preconditions()


def test_every_option_becomes_a_precondition() -> None:
    words = "--if-runtime 7 --if-state prompt,waiting --if-updated-within 3 --if-screen ok --if-prompt --if-ready"
    more = "--if-tail x --lines 9 --stable 2 --owner me --force-stale --wait-answer-secs 4"
    assert build_preconditions(parse_arguments(PreconditionArgs, f"{words} {more}".split())) == Preconditions(
        runtime=7,
        states=frozenset({"prompt", "waiting_approval", "waiting_input"}),
        updated_within=3.0,
        screen="ok",
        at_prompt=True,
        is_ready=True,
        tail="x",
        tail_lines=9,
        stable_for=2.0,
        owner="me",
        force_stale=True,
        wait_for_answer=4.0,
    )


def test_an_unknown_state_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(BadRequest) as refused:
        build_preconditions(PreconditionArgs(if_state="idel"))
    assert (refused.value.message, refused.value.hint) == ("unknown state 'idel'", "Did you mean idle?")
    with pytest.raises(BadRequest) as refused:
        build_preconditions(PreconditionArgs(if_state="promt"))
    assert refused.value.hint == "Did you mean prompt?"


REQUEST = ActionRequest(action=SendKeys(pane=1, keys=("C-c",)), preconditions=Preconditions(wait_for_answer=60.0))


class AskingGate(FakeGate):
    """A gate that requires approval until the request is answered."""

    async def run(self, action, preconditions) -> Outcome:
        self.executed.append((action, preconditions))
        if (await self.approvals.list())[:1]:
            raise NeedsApproval("a person must allow this first", details={"question": 1})
        return self.outcome


@pytest.mark.parametrize(("consent", "is_lasting"), [("once", False), ("session", True)])
async def test_approval_in_advance_answers_the_request(consent, is_lasting) -> None:
    services = await build_sample_services()
    gate = services.gate = AskingGate(services.store, services.clock)
    assert (await execute_with_approval(services, REQUEST, consent)).status == "done"
    assert gate.requests[0].state == "allowed"
    assert len(await gate.approvals.list_permits()) == (2 if is_lasting else 1)
    assert [preconditions.wait_for_answer for _, preconditions in gate.executed] == [0.0, 0.0]


def test_text_of_panes_and_policies_is_sanitized() -> None:
    evil = "\x1b[2Jx\nvisor: forged"
    dry_run = DryRunResult(what=evil, by=evil, answer="deny", why=evil, path=(evil,), refused="x", refused_why=evil)
    lines = render_dry_run_lines(dry_run, RenderOptions())
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert "\x1b" not in render_action_result(ActionResult(status="unknown", text=evil), RenderOptions(), "done")


async def test_a_request_that_is_gone_leaves_the_error_as_it_is() -> None:
    services = await build_sample_services()

    class ForgetfulGate(FakeGate):
        async def run(self, action, preconditions) -> Outcome:
            raise NeedsApproval("requires approval (request 999)", hint="h", details={"question": 999})

    services.gate = ForgetfulGate(services.store, services.clock)
    with pytest.raises(NeedsApproval) as raised:
        await execute_with_approval(services, REQUEST, "none")
    assert (raised.value.message, raised.value.hint, raised.value.details) == (
        "requires approval (request 999)", "h", {"question": 999},
    )  # fmt: skip
