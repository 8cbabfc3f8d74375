"""An agent's request stays in the inbox as long as its dialog is shown, whatever happens to the connection."""

import asyncio
import math

import pytest
from msgspec.structs import replace

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.attempt import Attempt
from termvisor.actions.permission_requests import PermissionDialog
from termvisor.actions.policy_check import PolicyDecision
from termvisor.actions.unclaimed_requests import CLAIM_TIMEOUT_S
from termvisor.errors import Refused
from termvisor.model.action.action import Actor, AnswerAgent
from termvisor.model.action.approval import (
    ANSWERED_ELSEWHERE,
    Approval,
    ApprovalOutcome,
    VerdictReason,
    combine_reasons,
)
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.store import Store
from termvisor.testing.fake_clock import FakeClock

ANN = Actor(kind="human", uid=1000, pid=500)
AGENT = Actor(kind="agent", uid=1000, pid=7, name="claude_code")
HOOK = AnswerAgent(agent="claude_code", tool="Bash", command="touch made", pane=PaneId(1), request="r1")
DIALOG = PermissionDialog(pane=PaneId(1), agent="claude_code", rows=("│ Run it? │", "│ touch │", "│ made  │"))
GONE = ApprovalOutcome(status="elsewhere", why="agent_gone", text="the agent has exited")
RUNNING = ApprovalOutcome(status="elsewhere", why="no_longer_waits", text="no longer asked: the agent is running")


class Inbox:
    """The approval queue, and the state of the agent that it sees."""

    def __init__(self, store: Store, clock: FakeClock):
        self.store, self.clock = store, clock
        self.ending: ApprovalOutcome | None = None
        self.restart()

    def restart(self) -> None:
        self.queue = ApprovalQueue(self.store, self.clock, find_ending=lambda _pane: self.ending)

    async def ask(self, action: AnswerAgent, seconds: float = math.inf) -> tuple["asyncio.Task[int | None]", Approval]:
        """Return the waiting caller and its request once the caller waits for the answer."""
        verdict = combine_reasons((VerdictReason(source="rule", id="r", answer="ask"),))
        attempt = Attempt(
            action=action,
            actor=AGENT,
            preconditions=Preconditions(wait_for_answer=seconds),
            decision=PolicyDecision(action=action, verdict=verdict, expires_for=600),
            correlation=action.request,
        )
        waiting = asyncio.ensure_future(self.queue.require_approval(attempt))
        while not (found := [one for one in await self.read() if one.correlation == action.request]):
            await asyncio.sleep(0)
        return waiting, found[0]

    async def read(self) -> list[Approval]:
        await self.queue.expire()
        return await self.store.approvals.list(is_open=False)

    async def describe(self) -> list[tuple[int, str, str]]:
        return [(one.id, one.state, "" if one.outcome is None else one.outcome.why) for one in await self.read()]


async def end(waiting: "asyncio.Task[int | None]", message: str | None = None) -> None:
    waiting.cancel(message)
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.fixture
async def inbox(tmp_path):
    clock = FakeClock()
    store = await Store.open(str(tmp_path / "visor.db"), clock)
    yield Inbox(store, clock)
    await store.close()


async def test_a_request_stays_open_for_hours_and_is_answered_then(inbox):
    waiting, request = await inbox.ask(HOOK)
    await inbox.clock.advance(5 * 3600)
    assert await inbox.describe() == [(1, "open", "")]
    await inbox.queue.answer(request.id, "allow", ANN)
    assert await waiting == request.id


async def test_an_answer_at_the_pane_closes_the_request(inbox):
    waiting, _ = await inbox.ask(HOOK)
    await end(waiting, ANSWERED_ELSEWHERE)
    assert await inbox.describe() == [(1, "withdrawn", "answered_at_pane")]


async def test_an_agent_that_exits_closes_the_request(inbox):
    waiting, _ = await inbox.ask(HOOK)
    inbox.ending = GONE
    await end(waiting, ANSWERED_ELSEWHERE)
    assert await inbox.describe() == [(1, "withdrawn", "agent_gone")]


async def test_a_hook_that_runs_out_of_time_leaves_its_request_to_the_dialog(inbox):
    waiting, request = await inbox.ask(HOOK, seconds=0.01)
    await inbox.clock.advance(1)
    with pytest.raises(Refused, match="no answer in time"):
        await waiting
    assert await inbox.describe() == [(1, "open", "")]
    waiting, shown = await inbox.ask(DIALOG.build_action())
    assert (shown.id, shown.at) == (2, request.at), "its text is another, its age is not"
    assert await inbox.describe() == [(1, "withdrawn", "asked_again"), (2, "open", "")]
    await inbox.queue.answer(shown.id, "allow", ANN)
    assert await waiting == shown.id


async def test_a_server_that_connects_later_replaces_the_request_of_the_dialog(inbox):
    waiting, request = await inbox.ask(DIALOG.build_action())
    await end(waiting)
    _, asked = await inbox.ask(HOOK)
    assert (asked.id, asked.at) == (2, request.at)
    assert await inbox.describe() == [(1, "withdrawn", "asked_again"), (2, "open", "")]


async def test_a_text_that_is_cut_off_claims_nothing(inbox):
    long = "touch " + "x" * 5000
    waiting, request = await inbox.ask(replace(HOOK, command=long))
    await end(waiting)
    await inbox.queue.answer(request.id, "allow", ANN)
    waiting, asked = await inbox.ask(replace(HOOK, command=f"{long}; rm -rf /srv", request="r2"))
    assert (asked.id, asked.state) == (2, "open")
    await end(waiting)


async def test_a_restarted_daemon_keeps_number_and_age_of_the_request(inbox):
    waiting, request = await inbox.ask(DIALOG.build_action())
    await end(waiting)
    inbox.restart()
    inbox.queue.recover(await inbox.store.approvals.list_unsettled("answer_agent"))
    await inbox.clock.advance(5)
    _, shown = await inbox.ask(DIALOG.build_action())
    assert (shown.id, shown.at) == (request.id, request.at)


@pytest.mark.parametrize(
    ("action", "is_own"), [(HOOK, True), (DIALOG.build_action(), False)], ids=["own channel", "dialog"]
)
async def test_a_restarted_daemon_knows_which_requests_the_agent_made_itself(inbox, action, is_own):
    waiting, _ = await inbox.ask(action)
    await end(waiting)
    inbox.restart()
    inbox.queue.recover(await inbox.store.approvals.list_unsettled("answer_agent"))
    assert inbox.queue.has_unclaimed_from_own_channel(PaneId(1)) is is_own
    assert not inbox.queue.has_unclaimed_from_own_channel(PaneId(2))


@pytest.mark.parametrize("answer", ["allow", "deny"])
async def test_an_answer_while_the_daemon_was_away_reaches_the_dialog(inbox, answer):
    waiting, request = await inbox.ask(DIALOG.build_action())
    await end(waiting)
    await inbox.queue.answer(request.id, answer, ANN)
    waiting, _ = await inbox.ask(DIALOG.build_action())
    results = await asyncio.gather(waiting, return_exceptions=True)
    assert [str(result).split(" (")[0] for result in results] == ["1" if answer == "allow" else "a person denied it"]


async def test_a_request_whose_agent_went_on_meanwhile_is_closed(inbox):
    waiting, request = await inbox.ask(HOOK)
    await end(waiting)
    await inbox.queue.answer(request.id, "allow", ANN)
    inbox.ending = RUNNING
    assert await inbox.describe() == [(1, "withdrawn", "no_longer_waits")]
    inbox.ending = None
    _, asked_again = await inbox.ask(replace(HOOK, request="r2"))
    assert (asked_again.id, asked_again.state) == (2, "open")


async def test_a_dialog_that_is_not_seen_again_closes_its_request(inbox):
    waiting, _ = await inbox.ask(HOOK)
    await end(waiting)
    await inbox.clock.advance(CLAIM_TIMEOUT_S)
    assert await inbox.describe() == [(1, "withdrawn", "not_seen")]


async def test_a_request_without_a_pane_ends_with_its_caller(inbox):
    waiting, _ = await inbox.ask(replace(HOOK, pane=None))
    await end(waiting)
    assert await inbox.describe() == [(1, "withdrawn", "caller_gone")]


@pytest.mark.parametrize(
    "other",
    [
        replace(DIALOG, rows=("│ Run it? │", "│ touch other │")).build_action(),
        replace(DIALOG, pane=PaneId(2)).build_action(),
        replace(DIALOG, agent="codex").build_action(),
        replace(HOOK, command="rm made", request="r2"),
    ],
    ids=["another command", "another pane", "another agent", "another tool call"],
)
async def test_another_request_claims_nothing(inbox, other):
    waiting, _ = await inbox.ask(HOOK)
    await end(waiting)
    _, asked = await inbox.ask(other)
    assert asked.id == 2


@pytest.mark.parametrize(
    "other",
    [
        replace(DIALOG, rows=("Run it?", "touch made", "rm -rf /srv")).build_action(),
        replace(DIALOG, rows=("Run it?", "touch made | sh")).build_action(),
        replace(HOOK, command="made", request="r2"),
    ],
    ids=["one more line", "a pipe behind it", "a part of it"],
)
async def test_an_approval_never_covers_another_text_of_the_same_agent(inbox, other):
    waiting, request = await inbox.ask(HOOK)
    await end(waiting)
    await inbox.queue.answer(request.id, "allow", ANN)
    waiting, asked = await inbox.ask(other)
    assert (asked.id, asked.state) == (2, "open")
    assert not waiting.done()
    await end(waiting)
