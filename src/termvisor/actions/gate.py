"""The one door: whatever changes the world passes here.

    judge ─► ask ─► record ─► do ─► verify ─► record

Invariant: nothing is done that is not on record first, and everything that was wanted is on record, also what was
denied, refused or failed. A pane gets one action at a time.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NoReturn

from msgspec.structs import replace

from termvisor.actions.attempt import Attempt, Means, denied, refused, wish_of
from termvisor.actions.audit_entry import Case
from termvisor.actions.delivery import Delivery
from termvisor.actions.policy_check import Judged
from termvisor.actions.preconditions import Belief, Refusal, as_seen
from termvisor.actions.undo import against, cleared, is_undone
from termvisor.clock import NS
from termvisor.errors import Refused, VisorError
from termvisor.log import logger
from termvisor.model.action.action import Action, Actor, AnswerAgent, SendText, acts_on
from termvisor.model.action.delivery import Send
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Reason, Verdict, strictest
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

_MODIFIED_AT_MOST = 3
_FRESH = NS // 2
"""A belief older than this is renewed before it is acted on."""
log = logger("gate")


class Gate:
    def __init__(self, means: Means):
        self._means, self._delivery = means, Delivery(means)
        self._turns: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def do(self, action: Action, actor: Actor, terms: Terms) -> Outcome:
        """Raises ``Refused``, ``NeedsApproval``, ``StaleSnapshot`` or ``Conflict`` when nothing was done."""
        earlier = await self._delivery.earlier(action, terms)
        if earlier is not None:
            return earlier
        attempt = await self._admit(action, actor, terms)
        async with self._turn(acts_on(attempt.case.action)):
            attempt = await self._renewed(attempt)
            await self._check_once(attempt)
            if isinstance(attempt.case.action, SendText):
                return await self._delivery.send(attempt, attempt.case.action)
            return await self._perform(attempt)

    async def try_out(self, action: Action, actor: Actor, terms: Terms) -> tuple[Verdict, Refusal | None, list[str]]:
        """What would be said of it, and the way to that; nothing is done, asked, counted or recorded."""
        belief = await self._believe(action, terms)
        action = as_seen(action, belief)
        judged = _asked(await self._means.judge.look(action, actor, belief), terms)
        wish = wish_of(actor, terms, judged)
        found = None if belief is None else against(belief, wish, self._means.clock.now())
        return judged.verdict, found, self._means.judge.explain(action, actor, belief)

    async def recover(self, left: Sequence[Send]) -> None:
        """After a start: sends that an earlier daemon left open are looked at and told, never repeated.

        They were listed before anybody could ask for another: a send of our own, under way, is not among them.
        """
        for send in left:
            await self._delivery.look_at(send)

    async def _admit(self, action: Action, actor: Actor, terms: Terms) -> Attempt:
        """Judged, believed possible and, where needed, allowed by a person."""
        for _ in range(_MODIFIED_AT_MOST):
            belief = await self._believe(action, terms)
            action = as_seen(action, belief)
            case = Case(
                action=action,
                actor=actor,
                correlation=terms.correlation or os.urandom(8).hex(),
                view=None if belief is None else belief.view,
                terms=terms,
            )
            judged = _asked(await self._means.judge.judge(action, actor, belief), terms)
            if judged.action == action:
                return await self._admit_judged(Attempt(case, wish_of(actor, terms, judged), judged, belief))
            action = judged.action
        raise Refused("the hooks keep changing the action", details={"outcome": "denied"})

    async def _admit_judged(self, attempt: Attempt) -> Attempt:
        verdict, case = attempt.judged.verdict, attempt.case
        if verdict.answer == "deny":
            await self._tell(attempt, "denied", verdict.why)
            raise denied(verdict, case)
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
        raise refused(found, attempt.case)

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

    async def _believe(self, action: Action, terms: Terms) -> Belief | None:
        pane = acts_on(action)
        belief = None if pane is None else await self._means.panes.believe(pane, terms)
        if belief is None or terms.undoes is None or not terms.undoes.is_typed or belief.typed is None:
            return belief
        send = await self._means.store.sends.of(terms.undoes.correlation)
        return replace(belief, is_own_text=send is not None and self._delivery.is_of(send, belief.typed.before))

    def _turn(self, pane: PaneId | None) -> AbstractAsyncContextManager[object]:
        return nullcontext() if pane is None else self._turns[pane]


def _asked(judged: Judged, terms: Terms) -> Judged:
    """Who acts may want a person to be asked, whatever the policy says; that lifts nothing."""
    if not terms.asks:
        return judged
    reason = Reason(source="default", id="asked_for", answer="ask", text="whoever does it is set to ask first")
    verdict = strictest((*judged.verdict.reasons, reason), judged.verdict.retry_at)
    return replace(judged, verdict=verdict)
