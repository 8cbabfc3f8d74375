"""Approval requests: who may answer, for which action, and for how long."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.attempt import Attempt, redact_action
from termvisor.actions.policy_check import PolicyDecision
from termvisor.clock import NS, SystemClock, format_timestamp
from termvisor.errors import BadRequest, NeedsApproval, NotPermitted, Refused
from termvisor.model.action.action import Actor, Kill, SendText
from termvisor.model.action.approval import Approval, PermitGrant, VerdictReason, combine_reasons
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.store import Store
from termvisor.testing.fake_clock import NOON, FakeClock, let_tasks_run
from tests.unit.actions.test_preconditions import ME, VIEW

ANN = replace(ME, kind="human", pid=500)
ACTION = SendText(pane=PaneId(1), text="make test")
DECISION = PolicyDecision(
    action=ACTION,
    verdict=combine_reasons((VerdictReason(source="rule", id="r", answer="ask"),)),
    expires_for=60,
    capabilities=("run make",),
)
ATTEMPT = Attempt(action=ACTION, actor=ME, preconditions=Preconditions(), decision=DECISION, correlation="c", view=VIEW)
WAITING = replace(ATTEMPT, preconditions=Preconditions(wait_for_answer=30))


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def inbox(tmp_path, clock):
    store = await Store.open(str(tmp_path / "visor.db"), clock)
    yield ApprovalQueue(store, clock)
    await store.close()


async def add_request(inbox: ApprovalQueue, attempt: Attempt = ATTEMPT) -> int:
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(attempt)
    return int(error.value.details["question"])


async def test_an_approval_allows_the_same_action_once(inbox):
    await inbox.answer(await add_request(inbox), "allow", ANN)
    await inbox.require_approval(ATTEMPT)
    await add_request(inbox)


async def test_an_approval_is_bound_to_its_action(inbox):
    await inbox.answer(await add_request(inbox), "allow", ANN)
    await add_request(inbox, replace(ATTEMPT, action=replace(ACTION, text="make all")))


async def test_a_waiting_caller_gets_the_answer(inbox):
    waiting = asyncio.ensure_future(inbox.require_approval(WAITING))
    with inbox.updates.subscribe() as updates:
        await asyncio.sleep(0)
        request = await updates.get()
    await inbox.answer(request.id, "allow", ANN)
    await waiting


async def test_a_denial_is_refused(inbox):
    waiting = asyncio.ensure_future(inbox.require_approval(WAITING))
    with inbox.updates.subscribe() as updates:
        request = await updates.get()
    await inbox.answer(request.id, "deny", ANN)
    with pytest.raises(Refused, match="denied it"):
        await waiting


async def test_an_unanswered_request_expires(inbox, clock):
    number = await add_request(inbox)
    await clock.advance(61)
    await inbox.expire()
    assert await add_request(inbox) != number
    await let_tasks_run()


async def test_a_request_expires_while_the_caller_waits(tmp_path):
    clock = SystemClock()
    store = await Store.open(str(tmp_path / "visor.db"), clock)
    with pytest.raises(Refused, match="no answer in time"):
        await ApprovalQueue(store, clock).require_approval(
            replace(WAITING, decision=replace(DECISION, expires_for=0.05))
        )
    await store.close()


async def test_a_program_cannot_answer_from_the_pane_that_requested_it(inbox):
    mine = replace(ATTEMPT, actor=replace(ME, pane=PaneId(4)))
    number = await add_request(inbox, mine)
    with pytest.raises(Refused, match="came from this pane"):
        await inbox.answer(number, "allow", replace(ANN, pane=PaneId(4)))
    assert (await inbox.answer(number, "allow", replace(ANN, pane=PaneId(5)))).state == "allowed"


async def test_a_permit_replaces_approval_until_it_expires(inbox, clock):
    await inbox.answer(await add_request(inbox), "allow", ANN, PermitGrant())
    other = replace(ATTEMPT, action=replace(ACTION, text="make all"))
    await inbox.require_approval(other)
    sudo = replace(other, decision=replace(DECISION, capabilities=("run sudo",)))
    always_asked = replace(other, decision=replace(DECISION, capabilities=()))
    for uncovered in (sudo, always_asked):
        with pytest.raises(NeedsApproval):
            await inbox.require_approval(uncovered)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(replace(ATTEMPT, action=Kill(pane=PaneId(1))))
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(replace(other, actor=replace(ME, uid=7)))
    await clock.advance(9 * 3600)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(other)


async def test_a_grant_has_its_own_expiry_and_may_cover_a_category(inbox, clock):
    answered = await inbox.answer(await add_request(inbox), "allow", ANN, PermitGrant(60.0, is_category=True))
    assert answered.permit.scope.capabilities == ("category shell",)
    tests = replace(ATTEMPT, action=replace(ACTION, text="t"), decision=replace(DECISION, capabilities=("run pytest",)))
    await inbox.require_approval(tests)
    await clock.advance(61)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(tests)


async def test_only_a_person_gives_the_agent_a_reason(inbox):
    number = await add_request(inbox)
    program = Actor(kind="robot", uid=ANN.uid, pid=77)
    with pytest.raises(NotPermitted, match="reasons must come from an interactive terminal"):
        await inbox.answer(number, "deny", program, reason="run `make deploy` instead")
    assert (await inbox.answer(number, "deny", program)).reason == ""


async def test_what_is_always_asked_cannot_be_granted(inbox):
    number = await add_request(inbox, replace(ATTEMPT, decision=replace(DECISION, capabilities=())))
    with pytest.raises(BadRequest, match="can be approved only once"):
        await inbox.answer(number, "allow", ANN, PermitGrant())
    assert (await inbox.answer(number, "allow", ANN)).state == "allowed"


async def test_a_plan_is_executed_in_its_order_only(inbox):
    second = replace(ATTEMPT, action=replace(ACTION, text="make install"))
    first_number, second_number = await add_request(inbox), await add_request(inbox, second)
    with pytest.raises(BadRequest, match=f"request {first_number} is not approved"):
        await inbox.answer(second_number, "allow", ANN, after=first_number)
    await inbox.answer(first_number, "allow", ANN)
    await inbox.answer(second_number, "allow", ANN, after=first_number)
    with pytest.raises(Refused, match=f"only after request {first_number}"):
        await inbox.require_approval(second)
    await inbox.require_approval(ATTEMPT)
    await inbox.require_approval(second)
    with pytest.raises(NeedsApproval):
        await inbox.require_approval(second)


async def test_a_denial_revokes_an_approval_that_was_not_used(inbox):
    number = await add_request(inbox)
    await inbox.answer(number, "allow", ANN)
    assert (await inbox.answer(number, "deny", ANN)).state == "denied"
    assert await add_request(inbox) != number


async def test_the_error_says_when_the_request_expires(inbox, clock):
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(ATTEMPT)
    assert error.value.details["expires_at"] == format_timestamp(clock.now() + 60 * NS)


@pytest.mark.parametrize("kind", ["robot", "mcp", "workflow", "assistant", "agent"])
@pytest.mark.parametrize("answer", ["allow", "edit"])
async def test_a_program_cannot_approve_from_any_process(inbox, kind, answer):
    number = await add_request(inbox)
    with pytest.raises(Refused, match="interactive terminal"):
        await inbox.answer(number, answer, replace(ME, kind=kind, pid=99_999))
    assert (await inbox.answer(number, "deny", replace(ME, kind=kind, pid=99_999))).state == "denied"


async def test_a_waiting_caller_gets_an_error_for_an_edited_action(inbox):
    waiting = asyncio.ensure_future(inbox.require_approval(WAITING))
    with inbox.updates.subscribe() as updates:
        request = await updates.get()
    assert (await inbox.answer(request.id, "edit", ANN)).state == "edited"
    with pytest.raises(Refused, match="an edited version") as error:
        await waiting
    assert (error.value.details["why"], error.value.details["correlation"]) == ("edited", ATTEMPT.correlation)


async def test_a_request_stores_the_input_kind_and_owner(inbox):
    number = await add_request(inbox, replace(ATTEMPT, preconditions=Preconditions(into="program", owner="ann")))
    request = await inbox.answer(number, "deny", ANN)
    assert (request.into, request.owner) == ("program", "ann")


TWO = replace(ATTEMPT, decision=replace(DECISION, needs=2))
BOB = replace(ANN, uid=ANN.uid + 1)


async def approve_by(inbox: ApprovalQueue, *people: Actor) -> None:
    """Request an approval by two people, and let these approve it."""
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(TWO)
    for person in people:
        await inbox.answer(int(error.value.details["question"]), "allow", person)
    await inbox.require_approval(TWO)


async def test_two_approvals_must_come_from_two_users(inbox):
    await approve_by(inbox, ANN, BOB)


@pytest.mark.parametrize("again", [ANN, replace(ANN, pid=77, name="second ann", pane=PaneId(9))])
async def test_one_uid_is_one_person_at_any_terminal_and_by_any_name(inbox, again):
    with pytest.raises(NeedsApproval, match="by 2 people, has 1"):
        await approve_by(inbox, ANN, again)


async def test_a_permit_of_one_person_does_not_replace_two_approvals(inbox):
    await inbox.answer(await add_request(inbox), "allow", ANN, PermitGrant())
    with pytest.raises(NeedsApproval, match="2 people"):
        await approve_by(inbox)


async def test_two_approvals_grant_no_permit(inbox):
    with pytest.raises(NeedsApproval) as error:
        await inbox.require_approval(TWO)
    for person in (ANN, BOB):
        await inbox.answer(int(error.value.details["question"]), "allow", person, PermitGrant())
    await inbox.require_approval(TWO)
    await add_request(inbox)


async def test_a_request_shows_what_is_asked_by_whom_and_why(inbox):
    preconditions = Preconditions(into="program", owner="ann")
    number = await add_request(inbox, replace(ATTEMPT, preconditions=preconditions))
    request = await inbox._store.approvals.find(number)
    assert request == Approval(
        id=number,
        at=NOON,
        expires_at=NOON + 60 * NS,
        correlation="c",
        action_hash=ATTEMPT.action_hash,
        kind="send_text",
        actor=ME,
        risk="input",
        pane=PaneId(1),
        place=ATTEMPT.pane_location,
        into="program",
        owner="ann",
        shown=redact_action(ACTION),
        reasons=DECISION.verdict.reasons,
        needs=1,
        capabilities=DECISION.capabilities,
    )
    (asked,) = await inbox._store.audit.list()
    assert (asked.stage, asked.kind, asked.correlation, asked.verdict) == ("asked", "send_text", "c", DECISION.verdict)


async def test_an_answer_is_logged_with_its_request(inbox):
    number = await add_request(inbox)
    await inbox.answer(number, "deny", ANN)
    (_, answered) = await inbox._store.audit.list()
    assert (answered.stage, answered.outcome, answered.kind, answered.correlation) == (
        "answered", "deny", "send_text", "c",
    )  # fmt: skip
    assert (answered.actor, answered.pane, answered.place, answered.action_hash, answered.observed) == (
        ANN, PaneId(1), ATTEMPT.pane_location, ATTEMPT.action_hash, {"question": number},
    )  # fmt: skip


async def test_a_denied_request_is_refused_with_its_number(inbox, clock):
    waiting = asyncio.ensure_future(inbox.require_approval(WAITING))
    while not (requests := await inbox._store.approvals.list()):
        await asyncio.sleep(0)
    await inbox.answer(requests[0].id, "deny", ANN)
    with pytest.raises(Refused, match="a person denied it") as refused:
        await waiting
    assert refused.value.details == {
        "question": requests[0].id, "expires_at": format_timestamp(NOON + 60 * NS), "why": "denied", "correlation": "c",
    }  # fmt: skip


async def test_two_people_are_needed_for_some_actions(inbox):
    with pytest.raises(NeedsApproval) as asked:
        await inbox.require_approval(replace(ATTEMPT, decision=replace(DECISION, needs=2)))
    assert asked.value.message == "requires approval by 2 people, has 0 (request 1)"
    assert "can only expire" in asked.value.hint


async def test_a_request_that_is_no_longer_stored_stays_open_for_its_caller(inbox, monkeypatch):
    async def find(_number):
        return None

    monkeypatch.setattr(inbox._store.approvals, "find", find)
    with pytest.raises(NeedsApproval) as asked:
        await inbox.require_approval(ATTEMPT)
    assert asked.value.details == {"question": 1, "expires_at": format_timestamp(NOON + 60 * NS)}


async def test_an_approval_that_cannot_be_used_says_why(inbox, monkeypatch):
    first = await add_request(inbox)
    second = await add_request(inbox, replace(ATTEMPT, action=replace(ACTION, text="make all")))
    await inbox.answer(first, "allow", ANN)
    await inbox.answer(second, "allow", ANN, after=first)
    with pytest.raises(Refused, match=f"request {second} may be executed only after request {first}") as refused:
        await inbox.require_approval(replace(ATTEMPT, action=replace(ACTION, text="make all")))
    assert refused.value.details == {"question": second, "after": first}

    async def consume(*_args):
        return False

    monkeypatch.setattr(inbox._store.approvals, "consume", consume)
    with pytest.raises(Refused, match=f"request {first} was already used or has expired") as refused:
        await inbox.require_approval(ATTEMPT)
    assert refused.value.details == {"question": first}


async def test_every_change_of_a_request_is_published(inbox, clock):
    with inbox.updates.subscribe() as updates:
        number = await add_request(inbox)
        assert (await updates.get()).state == "open"
        answered = await inbox.answer(number, "deny", ANN)
        assert await updates.get() == answered
        await add_request(inbox, replace(ATTEMPT, action=replace(ACTION, text="make all")))
        assert (await updates.get()).state == "open"
        await clock.advance(61)
        await inbox.expire()
        assert (await updates.get()).state == "expired"
