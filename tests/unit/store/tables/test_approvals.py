"""An approval is valid once, in time, and for one action."""

import pytest
from msgspec.structs import replace

from termvisor.errors import BadRequest, Conflict
from termvisor.model.action.action import Actor
from termvisor.model.action.approval import Approval, ApprovalOutcome, ApprovalVote, Permit, PermitScope
from tests.unit.store.tables.test_audit import build_entry

ENDED = ApprovalOutcome(status="elsewhere", why="agent_gone", text="the agent has exited")
ROBOT = Actor(kind="robot", uid=1000, pid=7)
QUESTION = Approval(
    at=10, expires_at=100, correlation="c", action_hash="h", kind="kill", actor=ROBOT, risk="process", shown={"pane": 1}
)


async def add_request(store, **changes) -> Approval:
    return await store.approvals.add_request(replace(QUESTION, **changes), build_entry(10, stage="asked"))


async def answer_request(store, number: int, answer: str = "allow", who: str = "ann", at: int = 20) -> Approval:
    return await store.approvals.answer(number, ApprovalVote(who, answer, at), build_entry(at, stage="answered"))


async def test_approval_is_valid_once(store):
    question = await add_request(store)
    assert (await store.approvals.list()) == [question]
    assert (await answer_request(store, question.id)).state == "allowed"
    assert await store.approvals.consume(question.id, "h", 30)
    assert not await store.approvals.consume(question.id, "h", 31)
    assert (await store.approvals.find(question.id)).state == "used"
    assert await store.approvals.list() == []
    assert [one.stage for one in await store.audit.list()] == ["asked", "answered"]


async def test_approval_is_bound_to_the_action_hash(store):
    question = await add_request(store)
    await answer_request(store, question.id)
    assert not await store.approvals.consume(question.id, "another", 30)


async def test_open_or_denied_request_allows_nothing(store):
    question, other = await add_request(store), await add_request(store, action_hash="other")
    assert not await store.approvals.consume(question.id, "h", 30)
    assert (await answer_request(store, other.id, "deny")).state == "denied"
    assert not await store.approvals.consume(other.id, "other", 30)


async def test_requests_and_approvals_expire(store):
    question = await add_request(store)
    await answer_request(store, question.id)
    assert not await store.approvals.consume(question.id, "h", 100)
    late = await add_request(store, action_hash="late")
    with pytest.raises(Conflict, match="expired"):
        await answer_request(store, late.id, at=100)
    assert [one.state for one in await store.approvals.expire(100)] == ["expired"]
    assert await store.approvals.expire(101) == []


async def test_request_is_answered_once(store):
    question = await add_request(store)
    await answer_request(store, question.id, "deny")
    with pytest.raises(Conflict, match="denied"):
        await answer_request(store, question.id, "allow", who="bob")
    with pytest.raises(BadRequest, match="approval request 99 not found"):
        await answer_request(store, 99)


async def test_two_votes_must_come_from_two_users(store):
    question = await add_request(store, needs=2)
    assert (await answer_request(store, question.id, who="ann")).state == "open"
    assert (await answer_request(store, question.id, who="ann")).state == "open"
    done = await answer_request(store, question.id, who="bob")
    assert (done.state, [voice.who for voice in done.voices]) == ("allowed", ["ann", "bob"])


async def test_same_action_has_one_open_request(store):
    first = await add_request(store)
    assert (await add_request(store, at=11)).id == first.id
    assert (await add_request(store, at=11, actor=replace(ROBOT, uid=1))).id != first.id
    await answer_request(store, first.id, "deny")
    assert (await add_request(store, at=30)).id != first.id


async def test_permits_are_valid_until_they_expire_or_are_revoked(store):
    scope = PermitScope(kind="send_text", actor_kind="robot", uid=1000)
    permit = await store.permits.add(Permit(at=10, expires_at=50, scope=scope, who="ann"))
    assert await store.permits.list(49) == [permit]
    assert await store.permits.list(50) == []
    assert await store.permits.revoke(permit.id, 20)
    assert not await store.permits.revoke(permit.id, 21)
    assert await store.permits.list(30) == []


async def test_vote_can_change_from_allow_to_deny(store):
    question = await add_request(store, needs=2)
    assert (await answer_request(store, question.id)).state == "open"
    assert (await answer_request(store, question.id, "deny", at=21)).state == "denied"


async def test_edited_request_allows_nothing(store):
    question = await add_request(store)
    assert (await answer_request(store, question.id, "edit")).state == "edited"
    assert not await store.approvals.consume(question.id, "h", 30)


async def test_withdrawn_request_cannot_be_answered(store):
    question = await add_request(store)
    withdrawn = await store.approvals.withdraw(question.id, ENDED)
    assert (withdrawn.state, withdrawn.outcome) == ("withdrawn", ENDED)
    assert await store.approvals.withdraw(question.id, ENDED) is None
    with pytest.raises(Conflict, match="withdrawn"):
        await answer_request(store, question.id)


async def test_an_unused_approval_of_a_caller_that_is_gone_is_withdrawn(store):
    question = await add_request(store)
    await answer_request(store, question.id)
    assert (await store.approvals.withdraw(question.id, ENDED)).state == "withdrawn"
    assert not await store.approvals.consume(question.id, "h", 30)


async def test_unsettled_requests_are_listed_by_kind(store):
    agents = {"kind": "answer_agent"}
    left, allowed, denied = [await add_request(store, action_hash=name, **agents) for name in ("l", "a", "d")]
    await add_request(store, action_hash="other")
    await answer_request(store, allowed.id)
    await answer_request(store, denied.id, "deny")
    assert [one.id for one in await store.approvals.list_unsettled("answer_agent")] == [left.id, allowed.id]


async def test_a_rebound_request_keeps_its_number_age_and_answer(store):
    question = await add_request(store)
    await answer_request(store, question.id)
    seen_again = replace(QUESTION, at=50, expires_at=900, action_hash="new", correlation="d", shown={"pane": 2})
    bound = await store.approvals.bind_request(question.id, seen_again, build_entry(50, stage="asked"))
    assert (bound.id, bound.at, bound.state, bound.shown) == (question.id, 10, "allowed", {"pane": 2})
    assert await store.approvals.find(question.id) == bound
    assert not await store.approvals.consume(question.id, "h", 60)
    assert await store.approvals.consume(question.id, "new", 200)


async def test_equal_requests_are_one_and_are_counted(store):
    first, again = await add_request(store), await add_request(store, correlation="other")
    assert (again.id, again.correlation, again.count) == (first.id, "c", 2)
    assert [one.count for one in await store.approvals.list()] == [2]
    assert [one.stage for one in await store.audit.list()] == ["asked"]


async def test_a_denial_keeps_its_reason_and_an_outcome_is_stored(store):
    question = await add_request(store)
    vote = ApprovalVote("ann", "deny", 20, reason="use make test")
    await store.approvals.answer(question.id, vote, build_entry(20, stage="answered"))
    assert (await store.approvals.set_outcome(question.id, ENDED)).reason == "use make test"
    assert (await store.approvals.find(question.id)).outcome == ENDED


async def test_an_answered_request_has_its_votes_and_is_stored_whole(store, new_pane):
    pane = await new_pane()
    request = await add_request(store, pane=pane, needs=2, capabilities=("kill",))
    assert request == replace(QUESTION, id=1, pane=pane, needs=2, capabilities=("kill",))
    votes = (ApprovalVote("ann", "allow", 20), ApprovalVote("bob", "allow", 30))
    for vote in votes:
        answered = await store.approvals.answer(request.id, vote, build_entry(vote.at, stage="answered"))
    assert answered == replace(request, state="allowed", voices=votes)
    assert await store.approvals.find(request.id) == answered
    assert await store.approvals.list(is_open=False) == [answered]
    assert await store.approvals.list(is_open=False, limit=0) == await store.approvals.list() == []
    assert await store.approvals.find(99) is None


@pytest.mark.parametrize(
    ("close", "text"),
    [
        (lambda store, number: answer_request(store, number, "deny"), "was already denied"),
        (lambda store, number: answer_request(store, number, "edit"), "was already answered with another text"),
        (lambda store, number: store.approvals.expire(100), "has expired"),
        (lambda store, number: store.approvals.withdraw(number, ENDED), "was withdrawn"),
    ],
)
async def test_a_closed_request_cannot_be_denied(store, close, text):
    request = await add_request(store)
    await close(store, request.id)
    with pytest.raises(Conflict, match=text):
        await answer_request(store, request.id, "deny", at=40)


async def test_an_unused_approval_can_be_denied_and_not_approved_again(store):
    request = await add_request(store)
    await answer_request(store, request.id)
    with pytest.raises(Conflict, match="was already approved"):
        await answer_request(store, request.id, who="bob")
    assert (await answer_request(store, request.id, "deny", at=30)).state == "denied"
    assert not await store.approvals.consume(request.id, "h", 31)


async def test_a_used_approval_can_not_be_denied(store):
    request = await add_request(store)
    await answer_request(store, request.id)
    await store.approvals.consume(request.id, "h", 25)
    with pytest.raises(Conflict, match="and the action was executed"):
        await answer_request(store, request.id, "deny", at=30)


async def test_an_approval_that_expired_can_not_be_denied(store):
    request = await add_request(store)
    await answer_request(store, request.id)
    with pytest.raises(Conflict, match="was already approved"):
        await answer_request(store, request.id, "deny", at=100)


async def test_a_request_of_a_plan_waits_for_the_one_before_it(store):
    first, second = await add_request(store), await add_request(store, action_hash="next")
    entry = build_entry(20, stage="answered")
    for after in (first.id, second.id, 99):
        with pytest.raises(BadRequest, match=f"request {after} is not approved"):
            await store.approvals.answer(second.id, ApprovalVote("ann", "allow", 20, after), entry)
    await answer_request(store, first.id)
    answered = await store.approvals.answer(second.id, ApprovalVote("ann", "allow", 20, first.id), entry)
    assert (answered.state, answered.after) == ("allowed", first.id)
    assert not await store.approvals.consume(second.id, "next", 30)
    assert await store.approvals.consume(first.id, "h", 30)
    assert await store.approvals.consume(second.id, "next", 31)


async def test_a_request_can_not_wait_for_itself(store):
    request = await add_request(store)
    await answer_request(store, request.id)
    with pytest.raises(BadRequest, match="request 1 is not approved"):
        await store.approvals.answer(request.id, ApprovalVote("ann", "deny", 30, request.id), build_entry(30))


async def test_an_allowed_request_is_found_for_the_same_user_in_time(store):
    request = await add_request(store, needs=2)
    for who in ("ann", "bob"):
        assert await store.approvals.find_allowed("h", 1000, 30) is None
        await answer_request(store, request.id, who=who)
    assert await store.approvals.find_allowed("h", 1000, 30) == request.id
    assert await store.approvals.find_allowed("h", 1000, 30, needs=2) == request.id
    assert await store.approvals.find_allowed("h", 1000, 30, needs=3) is None
    assert await store.approvals.find_allowed("h", 1001, 30) is None
    assert await store.approvals.find_allowed("x", 1000, 30) is None
    assert await store.approvals.find_allowed("h", 1000, 100) is None


async def test_expired_requests_are_returned_whole(store):
    request = await add_request(store)
    await add_request(store, action_hash="later", expires_at=200)
    assert await store.approvals.expire(99) == []
    assert await store.approvals.expire(100) == [replace(request, state="expired")]
    assert [one.action_hash for one in await store.approvals.list()] == ["later"]
