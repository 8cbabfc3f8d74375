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

from termvisor.actions.attempt import (
    Attempt,
    GateDependencies,
    build_denied_error,
    build_refused_error,
    build_requested_action,
)
from termvisor.actions.audit_entry import AuditContext
from termvisor.actions.delivery import TextDelivery
from termvisor.actions.policy_check import PolicyDecision
from termvisor.actions.preconditions import PaneSnapshot, PreconditionFailure, bind_dialog_rows
from termvisor.actions.undo import find_any_failure, is_undone, verify_input_cleared
from termvisor.clock import NS
from termvisor.errors import Refused, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Action, Actor, AnswerAgent, SendText, find_checked_pane
from termvisor.model.action.delivery import DeliveryRecord
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import Verdict, VerdictReason, combine_reasons
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId

_MAX_HOOK_REWRITES = 3
_MAX_SNAPSHOT_AGE_NS = NS // 2
"""A belief older than this is renewed before it is acted on."""
log = get_logger("gate")


class Gate:
    def __init__(self, dependencies: GateDependencies):
        self._dependencies, self._delivery = dependencies, TextDelivery(dependencies)
        self._pane_locks: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome:
        """Raises ``Refused``, ``NeedsApproval``, ``StaleSnapshot`` or ``Conflict`` when nothing was done."""
        earlier = await self._delivery.find_by_key(action, preconditions)
        if earlier is not None:
            return earlier
        attempt = await self._admit(action, actor, preconditions)
        async with self._lock_pane(find_checked_pane(attempt.audit.action)):
            attempt = await self._refresh_snapshot(attempt)
            await self._check_not_undone(attempt)
            if isinstance(attempt.audit.action, SendText):
                return await self._delivery.deliver(attempt, attempt.audit.action)
            return await self._execute(attempt)

    async def preview(
        self, action: Action, actor: Actor, preconditions: Preconditions
    ) -> tuple[Verdict, PreconditionFailure | None, list[str]]:
        """What would be said of it, and the way to that; nothing is done, asked, counted or recorded."""
        belief = await self._take_snapshot(action, preconditions)
        action = bind_dialog_rows(action, belief)
        judged = _require_approval(await self._dependencies.policy.preview(action, actor, belief), preconditions)
        wish = build_requested_action(actor, preconditions, judged)
        found = None if belief is None else find_any_failure(belief, wish, self._dependencies.clock.now())
        return judged.verdict, found, self._dependencies.policy.explain(action, actor, belief)

    async def recover(self, open_deliveries: Sequence[DeliveryRecord]) -> None:
        """After a start: sends that an earlier daemon left open are looked at and told, never repeated.

        They were listed before anybody could ask for another: a send of our own, under way, is not among them.
        """
        for send in open_deliveries:
            await self._delivery.resolve_interrupted(send)

    async def _admit(self, action: Action, actor: Actor, preconditions: Preconditions) -> Attempt:
        """Judged, believed possible and, where needed, allowed by a person."""
        for _ in range(_MAX_HOOK_REWRITES):
            belief = await self._take_snapshot(action, preconditions)
            action = bind_dialog_rows(action, belief)
            case = AuditContext(
                action=action,
                actor=actor,
                correlation=preconditions.correlation or os.urandom(8).hex(),
                view=None if belief is None else belief.view,
                preconditions=preconditions,
            )
            judged = _require_approval(await self._dependencies.policy.check(action, actor, belief), preconditions)
            if judged.action == action:
                return await self._apply_verdict(
                    Attempt(case, build_requested_action(actor, preconditions, judged), judged, belief)
                )
            action = judged.action
        raise Refused("the hooks keep changing the action", details={"outcome": "denied"})

    async def _apply_verdict(self, attempt: Attempt) -> Attempt:
        verdict, case = attempt.decision.verdict, attempt.audit
        if verdict.answer == "deny":
            await self._log_outcome(attempt, "denied", verdict.why)
            raise build_denied_error(verdict, case)
        await self._check_preconditions(attempt)
        if verdict.answer == "allow" or attempt.can_skip_approval:
            return attempt
        await self._request_approval(attempt)
        return attempt

    async def _request_approval(self, attempt: Attempt) -> None:
        """An agent goes on by itself after a no, and where nobody answered: that, too, is on record."""
        case = attempt.audit
        try:
            await self._dependencies.approvals.require_approval(
                case, attempt.decision, case.preconditions.wait_for_answer
            )
        except (Refused, asyncio.CancelledError) as error:
            if isinstance(case.action, AnswerAgent):
                why = str(error.details.get("why", "")) if isinstance(error, Refused) else "withdrawn"
                await self._log_outcome(attempt, "denied" if why == "denied" else "refused", why)
            raise

    async def _refresh_snapshot(self, attempt: Attempt) -> Attempt:
        """A person took their time, or others had their turn: what was believed is found out anew."""
        belief = attempt.snapshot
        if belief is None or self._dependencies.clock.now() - belief.observed_at < _MAX_SNAPSHOT_AGE_NS:
            return attempt
        fresh = replace(
            attempt, snapshot=await self._take_snapshot(attempt.audit.action, attempt.request.preconditions)
        )
        await self._check_preconditions(fresh)
        return fresh

    async def _check_preconditions(self, attempt: Attempt) -> None:
        if attempt.snapshot is None:
            return
        found = find_any_failure(attempt.snapshot, attempt.request, self._dependencies.clock.now())
        if found is not None:
            await self._refuse(attempt, found)

    async def _check_not_undone(self, attempt: Attempt) -> None:
        """What was taken back is not taken back again."""
        undoes = attempt.request.preconditions.undoes
        if undoes is not None and await is_undone(self._dependencies.store.audit, undoes.correlation):
            await self._refuse(attempt, PreconditionFailure(why="already_undone", text="it was undone already"))

    async def _refuse(self, attempt: Attempt, failure: PreconditionFailure) -> NoReturn:
        await self._log_outcome(attempt, "refused", failure.why)
        raise build_refused_error(failure, attempt.audit)

    async def _execute(self, attempt: Attempt) -> Outcome:
        case, judged = attempt.audit, attempt.decision
        now = self._dependencies.clock.now()
        intent = case.build_entry("intent", now, verdict=judged.verdict, observed=attempt.describe_pane())
        await self._dependencies.store.audit.add([intent])
        try:
            if attempt.can_skip_approval:
                outcome = Outcome(status="suppressed", why="policy_asks", text=judged.verdict.why)
            else:
                outcome = await self._verify_cleared(
                    attempt, await self._dependencies.executor.execute(case.action, attempt.snapshot, case.correlation)
                )
        except VisorError as error:
            await self._log_outcome(attempt, "failed", error.code)
            raise
        except asyncio.CancelledError:
            await self._log_outcome(attempt, "unknown", "interrupted")
            raise
        await self._log_outcome(attempt, outcome.status, outcome.why, outcome.former)
        await self._dependencies.policy.report_outcome(judged, outcome.status, outcome.why)
        return replace(outcome, correlation=case.correlation)

    async def _verify_cleared(self, attempt: Attempt, outcome: Outcome) -> Outcome:
        """Keys are pressed and that is all; where they take a text back, it must be seen to be gone."""
        belief = attempt.snapshot
        if belief is None or belief.undo_target is None or not belief.undo_target.is_typed:
            return outcome
        return await verify_input_cleared(
            self._dependencies.panes.get_control(belief.view.id), belief, self._dependencies.clock
        )

    async def _log_outcome(
        self, attempt: Attempt, outcome: str, why: str, former: dict[str, Scalar] | None = None
    ) -> None:
        """On record before the caller hears of it."""
        entry = attempt.audit.build_entry(
            "outcome",
            self._dependencies.clock.now(),
            verdict=attempt.decision.verdict,
            observed=attempt.describe_pane() | (former or {}),
            outcome=outcome,
            why=why,
        )
        await self._dependencies.store.audit.add([entry])

    async def _take_snapshot(self, action: Action, preconditions: Preconditions) -> PaneSnapshot | None:
        pane = find_checked_pane(action)
        belief = None if pane is None else await self._dependencies.panes.take_snapshot(pane, preconditions)
        if (
            belief is None
            or preconditions.undoes is None
            or not preconditions.undoes.is_typed
            or belief.typed_input is None
        ):
            return belief
        send = await self._dependencies.store.deliveries.find_by_correlation(preconditions.undoes.correlation)
        return replace(
            belief, holds_own_text=send is not None and self._delivery.is_text_of(send, belief.typed_input.before)
        )

    def _lock_pane(self, pane: PaneId | None) -> AbstractAsyncContextManager[object]:
        return nullcontext() if pane is None else self._pane_locks[pane]


def _require_approval(decision: PolicyDecision, preconditions: Preconditions) -> PolicyDecision:
    """Who acts may want a person to be asked, whatever the policy says; that lifts nothing."""
    if not preconditions.asks:
        return decision
    reason = VerdictReason(source="default", id="asked_for", answer="ask", text="whoever does it is set to ask first")
    verdict = combine_reasons((*decision.verdict.reasons, reason), decision.verdict.retry_at)
    return replace(decision, verdict=verdict)
