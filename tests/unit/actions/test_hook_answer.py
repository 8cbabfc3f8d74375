"""What an agent hears to its request, with the real gate, inbox and record behind it."""

import asyncio
import json

import pytest

from termvisor.actions.hook_answer import answer_hook_request
from termvisor.errors import Refused
from termvisor.model.action.action import Actor, AnswerAgent
from termvisor.model.action.approval import Approval
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, GateScene, open_gate_scene

HOOK = Actor(kind="robot", uid=1000, pid=77)
WISH = AnswerAgent(agent="claude_code", tool="Bash", command="make", request="r1")


@pytest.fixture
async def home():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


def behaviour(outcome: Outcome) -> str:
    return json.loads(outcome.text)["hookSpecificOutput"]["decision"]["behavior"]


async def story(home: GateScene) -> list[tuple[str, str, str]]:
    return [(one.stage, one.outcome, one.why) for one in await home.store.audit.list()]


async def asking(home: GateScene, seconds: float = 30.0) -> tuple[asyncio.Task[Outcome], Approval]:
    """The request, once it is in the inbox."""
    home.judge.answer = "ask"
    with home.inbox.updates.subscribe() as news:
        task = asyncio.ensure_future(answer_hook_request(home.gate, WISH, HOOK, Preconditions(wait_for_answer=seconds)))
        return task, await news.get()


async def test_what_the_policy_allows_is_allowed_at_once_and_on_record(home: GateScene) -> None:
    outcome = await answer_hook_request(home.gate, WISH, HOOK, Preconditions())
    assert (outcome.why, behaviour(outcome)) == ("allow", "allow")
    assert await story(home) == [("intent", "", ""), ("outcome", "done", "")]


async def test_what_the_policy_denies_is_denied_with_the_reason(home: GateScene) -> None:
    home.judge.answer = "deny"
    outcome = await answer_hook_request(home.gate, WISH, HOOK, Preconditions())
    assert (outcome.why, behaviour(outcome)) == ("deny", "deny")
    assert "the test says so" in outcome.text
    assert await story(home) == [("outcome", "denied", "the test says so")]


async def test_a_person_is_asked_as_by_the_agent_and_their_yes_is_good_once(home: GateScene) -> None:
    task, question = await asking(home)
    assert (question.kind, question.actor.kind, question.actor.name) == ("answer_agent", "agent", "claude_code")
    await home.inbox.answer(question.id, "allow", ME)
    assert behaviour(await task) == "allow"
    assert [stage for stage, _, _ in await story(home)] == ["asked", "answered", "intent", "outcome"]
    assert (await home.store.approvals.find(question.id)).state == "used"


async def test_a_persons_no_is_heard_and_on_record(home: GateScene) -> None:
    task, question = await asking(home)
    await home.inbox.answer(question.id, "deny", ME)
    assert behaviour(await task) == "deny"
    assert (await story(home))[-1] == ("outcome", "denied", "denied")


async def test_where_nobody_answers_in_time_there_is_no_decision(home: GateScene) -> None:
    task, question = await asking(home, seconds=0.05)
    with pytest.raises(Refused, match="nobody answered"):
        await task
    assert (await home.store.approvals.find(question.id)).state == "expired"
    assert (await story(home))[-1] == ("outcome", "refused", "expired")


async def test_who_leaves_withdraws_the_question(home: GateScene) -> None:
    task, question = await asking(home)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await home.store.approvals.find(question.id)).state == "withdrawn"
    assert (await story(home))[-1] == ("outcome", "refused", "withdrawn")


class Denying:
    def __init__(self, *reasons: str):
        self._reasons = list(reasons)

    async def run(self, *_wanted: object) -> Outcome:
        raise Refused("no", details={"outcome": "denied", "reasons": self._reasons})


@pytest.mark.parametrize("reason", ["rate pane:1:answer_agent: deny", "default no_policy: deny"])
async def test_a_denial_that_is_about_us_is_no_answer_to_the_agent(reason: str) -> None:
    with pytest.raises(Refused):
        await answer_hook_request(Denying(reason, "rule x: ask"), WISH, HOOK, Preconditions())
    assert behaviour(await answer_hook_request(Denying(reason, "rule x: deny"), WISH, HOOK, Preconditions())) == "deny"
