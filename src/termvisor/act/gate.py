"""The one door: whatever changes the world passes here.

    judge ─► ask ─► record ─► do ─► verify ─► record

Invariant: nothing is done that is not on record first, and everything that was wanted is on record, also what was
denied, refused or failed. A pane gets one action at a time.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NoReturn, Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.act import screen
from termvisor.act.approval import Inbox
from termvisor.act.belief import Belief, Refusal, Wish
from termvisor.act.judging import Judge, Judged
from termvisor.act.perform import Perform
from termvisor.act.record import Case, hash_of, text_hash
from termvisor.act.send import Ended, Journey, Sender, Witness
from termvisor.act.undo import against, cleared, is_undone
from termvisor.clock import NS, Clock
from termvisor.errors import Conflict, Detail, NotFound, Refused, StaleSnapshot, VisorError
from termvisor.log import logger
from termvisor.model.action import Action, Actor, AnswerAgent, Notify, SendText, acts_on
from termvisor.model.audit import AuditFilter
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome
from termvisor.model.pane import PaneView
from termvisor.model.send import Send, SendStep
from termvisor.model.terms import Terms
from termvisor.model.verdict import Verdict
from termvisor.mux.control import PaneControl
from termvisor.store import Store

_MODIFIED_AT_MOST = 3
_FRESH = NS // 2
"""A belief older than this is renewed before it is acted on."""
log = logger("gate")


class Panes(Witness, Protocol):
    """What the gate may know of panes."""

    async def view(self, pane: PaneId) -> PaneView:
        """The pane as it is on record; raises ``NotFound``."""

    async def believe(self, pane: PaneId, terms: Terms) -> Belief:
        """What is known of the pane now; raises ``NotFound``."""

    def control(self, pane: PaneId) -> PaneControl:
        """The way to change it."""

    async def last_command_line(self, pane: PaneId, since: int) -> str | None:
        """The command that the shell there, with proof, last started since then."""


class Means(Struct):
    """What the gate works with."""

    store: Store
    panes: Panes
    judge: Judge
    inbox: Inbox
    perform: Perform
    clock: Clock
    secret: bytes
    """Keys the hashes by which a text is known again."""


class Attempt(Struct, frozen=True):
    """An action that may be done now, with all that was found out about it."""

    case: Case
    wish: Wish
    judged: Judged
    belief: Belief | None

    @property
    def is_not_worth_asking(self) -> bool:
        """Nobody is asked about a notification: the question would be told by one. Nobody is told then."""
        return isinstance(self.case.action, Notify) and self.judged.verdict.answer == "ask"

    def observed(self) -> dict[str, Scalar]:
        """What the record says of the pane as it was."""
        if self.belief is None:
            return {}
        sight, view = self.belief.sight, self.belief.view
        return {
            "pid": sight.pid,
            "command": sight.command,
            "alternate": sight.alternate,
            "activity": view.activity.kind,
            "is_proven": view.activity.is_proven,
            "observed_at": self.belief.observed_at,
            "force_stale": self.wish.terms.force_stale,
        }


class Gate:
    def __init__(self, means: Means):
        self._means = means
        self._turns: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def do(self, action: Action, actor: Actor, terms: Terms) -> Outcome:
        """Raises ``Refused``, ``NeedsApproval``, ``StaleSnapshot`` or ``Conflict`` when nothing was done."""
        earlier = await self._earlier(action, terms)
        if earlier is not None:
            return earlier
        attempt = await self._admit(action, actor, terms)
        async with self._turn(acts_on(attempt.case.action)):
            attempt = await self._renewed(attempt)
            await self._check_once(attempt)
            if isinstance(attempt.case.action, SendText):
                return await self._send(attempt, attempt.case.action)
            return await self._perform(attempt)

    async def try_out(self, action: Action, actor: Actor, terms: Terms) -> tuple[Verdict, Refusal | None, list[str]]:
        """What would be said of it, and the way to that; nothing is done, asked, counted or recorded."""
        belief = await self._believe(action, terms)
        judged = await self._means.judge.look(action, actor, belief)
        wish = _wish(actor, terms, judged)
        found = None if belief is None else against(belief, wish, self._means.clock.now())
        return judged.verdict, found, self._means.judge.explain(action, actor, belief)

    async def recover(self, left: Sequence[Send]) -> None:
        """After a start: sends that an earlier daemon left open are looked at and told, never repeated.

        They were listed before anybody could ask for another: a send of our own, under way, is not among them.
        """
        for send in left:
            await self._look_at(send)

    async def _admit(self, action: Action, actor: Actor, terms: Terms) -> Attempt:
        """Judged, believed possible and, where needed, allowed by a person."""
        for _ in range(_MODIFIED_AT_MOST):
            belief = await self._believe(action, terms)
            case = Case(
                action=action,
                actor=actor,
                correlation=terms.correlation or os.urandom(8).hex(),
                view=None if belief is None else belief.view,
                terms=terms,
            )
            judged = await self._means.judge.judge(action, actor, belief)
            if judged.action == action:
                return await self._admit_judged(Attempt(case, _wish(actor, terms, judged), judged, belief))
            action = judged.action
        raise Refused("the hooks keep changing the action", details={"outcome": "denied"})

    async def _admit_judged(self, attempt: Attempt) -> Attempt:
        verdict, case = attempt.judged.verdict, attempt.case
        if verdict.answer == "deny":
            await self._tell(attempt, "denied", verdict.why)
            raise _denied(verdict, case)
        await self._check(attempt)
        if verdict.answer == "allow" or attempt.is_not_worth_asking:
            return attempt
        await self._ask(attempt)
        return attempt

    async def _ask(self, attempt: Attempt) -> None:
        """An agent goes on by itself after a no, and where nobody answered: that, too, is on record."""
        case = attempt.case
        try:
            await self._means.inbox.clear(case, attempt.judged, case.terms.wait_for_answer)
        except (Refused, asyncio.CancelledError) as error:
            if isinstance(case.action, AnswerAgent):
                why = str(error.details.get("why", "")) if isinstance(error, Refused) else "withdrawn"
                await self._tell(attempt, "denied" if why == "denied" else "refused", why)
            raise

    async def _renewed(self, attempt: Attempt) -> Attempt:
        """A person took their time, or others had their turn: what was believed is found out anew."""
        belief = attempt.belief
        if belief is None or self._means.clock.now() - belief.observed_at < _FRESH:
            return attempt
        fresh = replace(attempt, belief=await self._believe(attempt.case.action, attempt.wish.terms))
        await self._check(fresh)
        return fresh

    async def _check(self, attempt: Attempt) -> None:
        if attempt.belief is None:
            return
        found = against(attempt.belief, attempt.wish, self._means.clock.now())
        if found is not None:
            await self._refuse(attempt, found)

    async def _check_once(self, attempt: Attempt) -> None:
        """What was taken back is not taken back again."""
        undoes = attempt.wish.terms.undoes
        if undoes is not None and await is_undone(self._means.store.audit, undoes.correlation):
            await self._refuse(attempt, Refusal(why="already_undone", text="it was undone already"))

    async def _refuse(self, attempt: Attempt, found: Refusal) -> NoReturn:
        await self._tell(attempt, "refused", found.why)
        raise _refused(found, attempt.case)

    async def _send(self, attempt: Attempt, action: SendText) -> Outcome:
        case, terms, belief = attempt.case, attempt.wish.terms, attempt.belief
        if belief is None:
            raise NotFound("there is no pane to send to")
        key, now = terms.key or case.correlation, self._means.clock.now()
        send = Send(
            key=key,
            correlation=case.correlation,
            pane=action.pane,
            action_hash=case.action_hash,
            text_hash=text_hash(action.text, self._means.secret),
            begun_at=now,
        )
        intent = case.entry("intent", now, verdict=attempt.judged.verdict, observed=attempt.observed())
        earlier = await self._means.store.sends.begin(send, intent)
        if earlier is not None:
            return _repeated(earlier, case.action_hash)
        ended = await self._travelled(send, Journey(action, belief, terms.into == "prompt", self._steps_of(key)))
        await self._end(key, case, ended)
        await self._means.judge.after(attempt.judged, ended.status, ended.why)
        if ended.status == "refused":
            raise _refused(Refusal(why=ended.why, text=ended.text), case)
        sent = len(action.text.encode("utf-8", "replace"))
        return Outcome(
            status=ended.status,
            why=ended.why,
            text=ended.text,
            correlation=case.correlation,
            key=key,
            pane=action.pane,
            bytes_sent=sent,
            lines=belief.view.lines,
        )

    async def _travelled(self, send: Send, journey: Journey) -> Ended:
        sender = Sender(self._means.panes.control(send.pane), self._means.panes, self._means.clock)
        try:
            return await sender.send(journey)
        except asyncio.CancelledError:
            # Who asked has left in the middle of it: what came of it is on record all the same.
            await self._look_at(await self._means.store.sends.one(send.key) or send)
            raise

    def _steps_of(self, key: str) -> Callable[[SendStep], Awaitable[None]]:
        async def step(step: SendStep) -> None:
            await self._means.store.sends.step(key, step, self._means.clock.now())

        return step

    async def _perform(self, attempt: Attempt) -> Outcome:
        case, judged = attempt.case, attempt.judged
        now = self._means.clock.now()
        intent = case.entry("intent", now, verdict=judged.verdict, observed=attempt.observed())
        await self._means.store.audit.add([intent])
        try:
            if attempt.is_not_worth_asking:
                outcome = Outcome(status="suppressed", why="policy_asks", text=judged.verdict.why)
            else:
                outcome = await self._proven(
                    attempt, await self._means.perform.do(case.action, attempt.belief, case.correlation)
                )
        except VisorError as error:
            await self._tell(attempt, "failed", error.code)
            raise
        except asyncio.CancelledError:
            await self._tell(attempt, "unknown", "interrupted")
            raise
        await self._tell(attempt, outcome.status, outcome.why, outcome.former)
        await self._means.judge.after(judged, outcome.status, outcome.why)
        return replace(outcome, correlation=case.correlation)

    async def _proven(self, attempt: Attempt, outcome: Outcome) -> Outcome:
        """Keys are pressed and that is all; where they take a text back, it must be seen to be gone."""
        belief = attempt.belief
        if belief is None or belief.left is None or not belief.left.is_typed:
            return outcome
        return await cleared(self._means.panes.control(belief.view.id), belief, self._means.clock)

    async def _end(self, key: str, case: Case, ended: Ended) -> None:
        entry = case.entry("outcome", self._means.clock.now(), outcome=ended.status, why=ended.why)
        await self._means.store.sends.end(key, ended.status, ended.why, entry)

    async def _tell(self, attempt: Attempt, outcome: str, why: str, former: dict[str, Scalar] | None = None) -> None:
        """On record before the caller hears of it."""
        entry = attempt.case.entry(
            "outcome",
            self._means.clock.now(),
            verdict=attempt.judged.verdict,
            observed=attempt.observed() | (former or {}),
            outcome=outcome,
            why=why,
        )
        await self._means.store.audit.add([entry])

    async def _earlier(self, action: Action, terms: Terms) -> Outcome | None:
        """What came of the first call with this key."""
        if not (terms.key and isinstance(action, SendText)):
            return None
        earlier = await self._means.store.sends.one(terms.key)
        if earlier is None:
            return None
        return _repeated(earlier, hash_of(action, await self._means.panes.view(action.pane)))

    async def _look_at(self, send: Send) -> None:
        """What can be said of a send that was under way when its daemon ended."""
        ended = await self._interrupted(send)
        story = await self._means.store.audit.list(only=AuditFilter(correlation=send.correlation))
        intent = next(entry for entry in reversed(story) if entry.stage == "intent")
        now = self._means.clock.now()
        entry = replace(intent, stage="outcome", at=now, outcome=ended.status, why=ended.why)
        await self._means.store.sends.end(send.key, ended.status, ended.why, entry)

    async def _interrupted(self, send: Send) -> Ended:
        panes = self._means.panes
        try:
            belief = await panes.believe(send.pane, Terms())
            line = await panes.last_command_line(send.pane, send.step_at) if send.step == "submitting" else None
        except VisorError as error:
            return Ended("unknown", "interrupted", f"the pane cannot be looked at: {error}")
        typed = belief.typed or screen.in_program(belief.sight)
        if typed is not None and self._is_of(send, typed.before) and not screen.squeeze(typed.behind):
            return Ended("typed_not_submitted", "interrupted", "the text stands in the input")
        if line is not None and self._is_of(send, line):
            return Ended("delivered", "interrupted", "the shell said that it started this command")
        return Ended("unknown", "interrupted", "it cannot be said whether the text was taken")

    def _is_of(self, send: Send, text: str) -> bool:
        return text_hash(text, self._means.secret) == send.text_hash

    async def _believe(self, action: Action, terms: Terms) -> Belief | None:
        pane = acts_on(action)
        belief = None if pane is None else await self._means.panes.believe(pane, terms)
        if belief is None or terms.undoes is None or not terms.undoes.is_typed or belief.typed is None:
            return belief
        send = await self._means.store.sends.of(terms.undoes.correlation)
        return replace(belief, is_own_text=send is not None and self._is_of(send, belief.typed.before))

    def _turn(self, pane: PaneId | None) -> AbstractAsyncContextManager[object]:
        return nullcontext() if pane is None else self._turns[pane]


def _wish(actor: Actor, terms: Terms, judged: Judged) -> Wish:
    return Wish(
        action=judged.action,
        actor=actor,
        terms=terms,
        allows_unproven=judged.allows_unproven,
        allows_typing_beside_people=judged.allows_typing_beside_people,
    )


def _repeated(earlier: Send, action_hash: str) -> Outcome:
    """The same key again: nothing is done, the first answer is given once more."""
    if earlier.action_hash != action_hash:
        raise Conflict(f"the key {earlier.key!r} was used for another action", hint="Every action needs its own key.")
    if earlier.status == "refused":
        raise StaleSnapshot(f"it was refused then: {earlier.why}", details={"outcome": "refused", "why": earlier.why})
    return Outcome(
        status=earlier.status or "unknown",
        why=earlier.why or "under_way",
        correlation=earlier.correlation,
        key=earlier.key,
        pane=earlier.pane,
        is_repeated=True,
    )


def _denied(verdict: Verdict, case: Case) -> Refused:
    details: dict[str, Detail] = {
        "outcome": "denied",
        "correlation": case.correlation,
        "reasons": [f"{reason.source} {reason.id}: {reason.answer}" for reason in verdict.reasons],
        "retry_at": verdict.retry_at,
    }
    return Refused(f"the policy says no: {verdict.why}", details=details)


def _refused(found: Refusal, case: Case) -> VisorError:
    details: dict[str, Detail] = {"outcome": "refused", "why": found.why, "correlation": case.correlation}
    if found.expected or found.actual:
        details |= {"expected": found.expected, "actual": found.actual}
    told = f"{found.text} (expected {found.expected}, found {found.actual})" if found.expected else found.text
    kind = Conflict if found.why == "reserved" else StaleSnapshot
    return kind(f"nothing was done: {told}", details=details)
