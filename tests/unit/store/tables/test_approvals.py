"""An approval is valid once, in time, and for one action."""

import pytest
from msgspec.structs import replace

from termvisor.errors import BadRequest, Conflict
from termvisor.model.action.action import Actor
from termvisor.model.action.approval import Approval, ApprovalVote, Permit, PermitScope
from tests.unit.store.tables.test_audit import build_entry

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
    assert (await store.approvals.withdraw(question.id)).state == "withdrawn"
    assert await store.approvals.withdraw(question.id) is None
    with pytest.raises(Conflict, match="withdrawn"):
        await answer_request(store, question.id)


async def test_requests_left_by_an_earlier_daemon_are_withdrawn_by_kind(store):
    left, other = await add_request(store, kind="answer_agent"), await add_request(store, action_hash="other")
    await store.approvals.withdraw_leftover("answer_agent")
    assert [(await store.approvals.find(one.id)).state for one in (left, other)] == ["withdrawn", "open"]
