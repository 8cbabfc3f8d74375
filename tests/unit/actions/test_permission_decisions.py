"""Decisions about permission requests, with the real gate, approvals and audit log."""

import asyncio
import json

import pytest

from termvisor.actions.permission_requests import decide_request
from termvisor.errors import Refused
from termvisor.model.action.action import Actor, AnswerAgent
from termvisor.model.action.approval import Approval
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, GateScene, open_gate_scene

HOOK = Actor(kind="robot", uid=1000, pid=77)
REQUEST = AnswerAgent(agent="claude_code", tool="Bash", command="make", request="r1")


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


def read_behavior(outcome: Outcome) -> str:
    return json.loads(outcome.text)["hookSpecificOutput"]["decision"]["behavior"]


async def read_audit(scene: GateScene) -> list[tuple[str, str, str]]:
    return [(entry.stage, entry.outcome, entry.why) for entry in await scene.store.audit.list()]


async def request_approval(scene: GateScene, seconds: float = 30.0) -> tuple[asyncio.Task[Outcome], Approval]:
    """Return the pending decision and the approval request in the inbox."""
    scene.policy.answer = "ask"
    with scene.approvals.updates.subscribe() as updates:
        task = asyncio.ensure_future(decide_request(scene.gate, REQUEST, HOOK, Preconditions(wait_for_answer=seconds)))
        return task, await updates.get()


async def test_an_action_that_the_policy_allows_is_allowed_and_logged(scene: GateScene) -> None:
    outcome = await decide_request(scene.gate, REQUEST, HOOK, Preconditions())
    assert (outcome.why, read_behavior(outcome)) == ("allow", "allow")
    assert await read_audit(scene) == [("intent", "", ""), ("outcome", "done", "hook_answered")]


async def test_a_policy_denial_is_answered_with_its_reason(scene: GateScene) -> None:
    scene.policy.answer = "deny"
    outcome = await decide_request(scene.gate, REQUEST, HOOK, Preconditions())
    assert (outcome.why, read_behavior(outcome)) == ("deny", "deny")
    assert "the test says so" in outcome.text
    assert await read_audit(scene) == [("outcome", "denied", "the test says so")]


async def test_the_agent_is_the_requester_and_an_approval_is_used_once(scene: GateScene) -> None:
    task, approval = await request_approval(scene)
    assert (approval.kind, approval.actor.kind, approval.actor.name) == ("answer_agent", "agent", "claude_code")
    await scene.approvals.answer(approval.id, "allow", ME)
    assert read_behavior(await task) == "allow"
    assert [stage for stage, _, _ in await read_audit(scene)] == ["asked", "answered", "intent", "outcome"]
    assert (await scene.store.approvals.find(approval.id)).state == "used"


async def test_a_persons_denial_is_answered_and_logged(scene: GateScene) -> None:
    task, approval = await request_approval(scene)
    await scene.approvals.answer(approval.id, "deny", ME)
    assert read_behavior(await task) == "deny"
    assert (await read_audit(scene))[-1] == ("outcome", "denied", "denied")


async def test_an_expired_request_has_no_decision(scene: GateScene) -> None:
    task, approval = await request_approval(scene, seconds=0.05)
    with pytest.raises(Refused, match="no answer in time"):
        await task
    assert (await scene.store.approvals.find(approval.id)).state == "expired"
    assert (await read_audit(scene))[-1] == ("outcome", "refused", "expired")


async def test_a_cancelled_request_withdraws_its_approval(scene: GateScene) -> None:
    task, approval = await request_approval(scene)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await scene.store.approvals.find(approval.id)).state == "withdrawn"
    assert (await read_audit(scene))[-1] == ("outcome", "refused", "withdrawn")


class DenyingGate:
    def __init__(self, *reasons: str):
        self._reasons = list(reasons)

    async def run(self, *_args: object) -> Outcome:
        raise Refused("no", details={"outcome": "denied", "reasons": self._reasons})


@pytest.mark.parametrize("reason", ["rate pane:1:answer_agent: deny", "default no_policy: deny"])
async def test_a_rate_limit_or_unreadable_policy_is_no_decision(reason: str) -> None:
    with pytest.raises(Refused):
        await decide_request(DenyingGate(reason, "rule x: ask"), REQUEST, HOOK, Preconditions())
    assert (
        read_behavior(await decide_request(DenyingGate(reason, "rule x: deny"), REQUEST, HOOK, Preconditions()))
        == "deny"
    )
