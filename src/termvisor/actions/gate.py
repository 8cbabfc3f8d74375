"""Run every action through policy, approval, audit log, execution and verification.

    check policy → request approval → log intent → execute → verify → log outcome

Invariants: an action is in the audit log before it is executed; every requested action is logged, including the denied,
refused and failed ones; actions on one pane are serialized.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NoReturn

from msgspec.structs import replace

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.attempt import Attempt
from termvisor.actions.delivery import TextDelivery
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.pane_snapshot import PaneAccess, PaneSnapshot
from termvisor.actions.policy_check import PolicyChecker, PolicyDecision
from termvisor.actions.precondition_failure import PreconditionFailure
from termvisor.actions.preconditions import bind_dialog_rows, find_failed_condition, find_failed_precondition
from termvisor.actions.prompt_check import assume_prompt
from termvisor.actions.undo import is_undone, verify_input_cleared
from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import ErrorDetail, Refused, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Action, Actor, AnswerAgent, AnswerDialog, SendText, find_checked_pane
from termvisor.model.action.approval import ApprovalOutcome, Verdict, VerdictReason, combine_reasons
from termvisor.model.action.outcome import DeliveryRecord, Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.store import Store

# Give up when user hooks keep changing the action: two hooks could undo each other forever.
_MAX_HOOK_REWRITES = 3
# Take a new pane snapshot before executing if the current one is older than this.
_MAX_SNAPSHOT_AGE_NS = NS // 2
log = get_logger("gate")


class Gate:
    def __init__(
        self,
        *,
        store: Store,
        panes: PaneAccess,
        policy: PolicyChecker,
        approvals: ApprovalQueue,
        executor: ActionExecutor,
        clock: Clock,
        hash_key: bytes,
    ):
        self._store, self._panes, self._policy, self._clock = store, panes, policy, clock
        self._approvals, self._executor = approvals, executor
        self._delivery = TextDelivery(store=store, panes=panes, policy=policy, clock=clock, hash_key=hash_key)
        # One lock per pane: two sends must never interleave their text and Enter.
        self._pane_locks: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome:
        """Execute an action once and return its verified outcome.

        A repeated idempotency key returns the outcome of the first call.
        Raises ``Refused``, ``NeedsApproval``, ``StaleSnapshot`` or ``Conflict`` if nothing was executed.
        """
        # Checked first: a repeated call returns the first outcome even if the pane has changed since.
        previous = await self.find_repeated(action, preconditions)
        if previous is not None:
            return previous
        attempt = await self._admit(action, actor, preconditions)
        # Lock only after approval, so that a slow answer does not block other actions on the pane.
        async with self._lock_pane(find_checked_pane(attempt.action)):
            attempt = await self._refresh_snapshot(attempt)
            await self._check_not_undone(attempt)
            if isinstance(attempt.action, SendText):
                outcome = await self._delivery.deliver(attempt, attempt.action)
                await self._record_approved(attempt, outcome.status, outcome.why)
                return outcome
            return await self._execute(attempt)

    async def find_repeated(self, action: Action, preconditions: Preconditions) -> Outcome | None:
        """Return the outcome of the first call with this idempotency key; None if there was none."""
        return await self._delivery.find_by_key(action, preconditions)

    async def preview(
        self, action: Action, actor: Actor, preconditions: Preconditions
    ) -> tuple[Verdict, PreconditionFailure | None, list[str]]:
        """Return the verdict, the failed precondition and the policy trace without executing or logging anything."""
        snapshot = await self._take_snapshot(action, preconditions)
        action = bind_dialog_rows(action, snapshot)
        decision = _require_approval(await self._policy.preview(action, actor, snapshot), actor, preconditions)
        attempt = Attempt(action=decision.action, actor=actor, preconditions=preconditions, decision=decision)
        failure = None if snapshot is None else find_failed_precondition(snapshot, attempt, self._clock.now())
        return decision.verdict, failure, self._policy.explain(action, actor, snapshot)

    async def check_conditions(self, pane: PaneId, preconditions: Preconditions) -> None:
        """Raise StaleSnapshot if the caller's conditions on a pane do not hold. Nothing is executed or logged."""
        snapshot = await self._panes.take_snapshot(pane, preconditions)
        failure = None if snapshot is None else find_failed_condition(snapshot, preconditions, self._clock.now())
        if failure is not None:
            raise failure.build_error(pane=pane)

    async def recover(self, open_deliveries: Sequence[DeliveryRecord]) -> None:
        """Resolve the deliveries that an earlier daemon left open, without repeating them.

        The caller lists them before it accepts requests, so none of them belongs to this daemon.
        """
        for delivery in open_deliveries:
            await self._delivery.resolve_interrupted(delivery)

    async def _admit(self, action: Action, actor: Actor, preconditions: Preconditions) -> Attempt:
        """Return the attempt once the policy, the preconditions and, if required, a person allow it."""
        correlation = preconditions.correlation or os.urandom(8).hex()
        # A replacement action from a hook is checked like a new one, starting with the snapshot.
        for _ in range(_MAX_HOOK_REWRITES):
            snapshot = await self._take_snapshot(action, preconditions)
            action = bind_dialog_rows(action, snapshot)
            decision = _require_approval(await self._policy.check(action, actor, snapshot), actor, preconditions)
            attempt = Attempt(
                action=action,
                actor=actor,
                preconditions=preconditions,
                decision=decision,
                correlation=correlation,
                view=None if snapshot is None else snapshot.view,
                snapshot=snapshot,
            )
            if decision.action == action:
                return await self._apply_verdict(attempt)
            # What was requested is on record, too, before what the hook made of it.
            judged = attempt.build_entry("judged", self._clock.now(), outcome="modified", why="hook")
            await self._store.audit.add([judged])
            action = decision.action
        raise Refused("the policy hooks keep changing the action", details={"outcome": "denied"})

    async def _apply_verdict(self, attempt: Attempt) -> Attempt:
        verdict = attempt.decision.verdict
        # Check for a denial before the preconditions, so that a forbidden action is not reported as a stale pane.
        if verdict.answer == "deny":
            await self._log_outcome(attempt, "denied", verdict.why)
            raise _build_denied_error(verdict, attempt.correlation)
        await self._check_preconditions(attempt)
        if verdict.answer == "ask" and not attempt.is_suppressed:
            return replace(attempt, approval=await self._request_approval(attempt))
        return attempt

    async def _request_approval(self, attempt: Attempt) -> int | None:
        try:
            return await self._approvals.require_approval(attempt)
        except (Refused, asyncio.CancelledError) as error:
            # Other callers may retry and find the request answered. An agent proceeds by itself after a denial or
            # a timeout, so log the final outcome now.
            if isinstance(attempt.action, AnswerAgent):
                why = str(error.details.get("why", "")) if isinstance(error, Refused) else "withdrawn"
                await self._log_outcome(attempt, "denied" if why == "denied" else "refused", why)
            raise

    async def _refresh_snapshot(self, attempt: Attempt) -> Attempt:
        """Take a new pane snapshot if waiting for the approval or the lock made the old one stale."""
        snapshot = attempt.snapshot
        if snapshot is None or self._clock.now() - snapshot.observed_at < _MAX_SNAPSHOT_AGE_NS:
            return attempt
        attempt = replace(attempt, snapshot=await self._take_snapshot(attempt.action, attempt.preconditions))
        await self._check_preconditions(attempt)
        return attempt

    async def _check_preconditions(self, attempt: Attempt) -> None:
        if attempt.snapshot is None:
            return
        failure = find_failed_precondition(attempt.snapshot, attempt, self._clock.now())
        if failure is not None:
            await self._refuse(attempt, failure)

    async def _check_not_undone(self, attempt: Attempt) -> None:
        # Checked under the pane lock: two concurrent undos of one action must not both run.
        undoes = attempt.preconditions.undoes
        if undoes is not None and await is_undone(self._store.audit, undoes.correlation):
            await self._refuse(attempt, PreconditionFailure("already_undone", "it was already undone"))

    async def _refuse(self, attempt: Attempt, failure: PreconditionFailure) -> NoReturn:
        await self._log_outcome(attempt, "refused", failure.why)
        pane = None if attempt.snapshot is None else attempt.snapshot.view.id
        raise failure.build_error(attempt.correlation, pane)

    async def _execute(self, attempt: Attempt) -> Outcome:
        decision = attempt.decision
        entry = attempt.build_entry(
            "intent", self._clock.now(), verdict=decision.verdict, observed=attempt.describe_pane()
        )
        await self._store.audit.add([entry])
        try:
            if attempt.is_suppressed:
                outcome = Outcome(status="suppressed", why="policy_asks", text=decision.verdict.why)
            else:
                outcome = await self._executor.execute(attempt.action, attempt.snapshot, attempt.correlation)
                outcome = await self._verify_cleared(attempt, outcome)
        except VisorError as error:
            # The intent is already logged, so every exit from here must log an outcome.
            await self._log_outcome(attempt, "failed", error.code)
            raise
        except asyncio.CancelledError:
            # The client disconnected, so it is unknown whether the action took effect. Log it as unknown.
            await self._log_outcome(attempt, "unknown", "interrupted")
            raise
        await self._log_outcome(attempt, outcome.status, outcome.why, outcome.former)
        await self._policy.report_outcome(decision, outcome.status, outcome.why)
        return replace(outcome, correlation=attempt.correlation)

    async def _verify_cleared(self, attempt: Attempt, outcome: Outcome) -> Outcome:
        """Verify that the input is empty if the keys were pressed to undo a typed text."""
        snapshot = attempt.snapshot
        if snapshot is None or snapshot.undo_target is None or not snapshot.undo_target.is_typed:
            return outcome
        return await verify_input_cleared(self._panes.get_control(snapshot.view.id), snapshot, self._clock)

    async def _log_outcome(
        self, attempt: Attempt, outcome: str, why: str, former: dict[str, Scalar] | None = None
    ) -> None:
        entry = attempt.build_entry(
            "outcome",
            self._clock.now(),
            verdict=attempt.decision.verdict,
            observed=attempt.describe_pane() | (former or {}),
            outcome=outcome,
            why=why,
        )
        await self._store.audit.add([entry])
        await self._record_approved(attempt, outcome, why)

    async def _record_approved(self, attempt: Attempt, outcome: str, why: str) -> None:
        """Store the outcome with the approval request that allowed the action, for the person who answered it."""
        if attempt.approval is not None:
            await self._approvals.record_outcome(attempt.approval, ApprovalOutcome(status=outcome, why=why))

    async def _take_snapshot(self, action: Action, preconditions: Preconditions) -> PaneSnapshot | None:
        pane, undoes = find_checked_pane(action), preconditions.undoes
        snapshot = None if pane is None else await self._panes.take_snapshot(pane, preconditions)
        if snapshot is not None and isinstance(action, SendText):
            snapshot = assume_prompt(snapshot, action)
        if snapshot is None or undoes is None or not undoes.is_typed or snapshot.typed_input is None:
            return snapshot
        # The audit log stores a keyed hash of the text instead of the text, so compare hashes.
        delivery = await self._store.deliveries.find_by_correlation(undoes.correlation)
        is_own = delivery is not None and self._delivery.is_text_of(delivery, snapshot.typed_input.before)
        return replace(snapshot, holds_own_text=is_own)

    def _lock_pane(self, pane: PaneId | None) -> AbstractAsyncContextManager[object]:
        return nullcontext() if pane is None else self._pane_locks[pane]


def _require_approval(decision: PolicyDecision, actor: Actor, preconditions: Preconditions) -> PolicyDecision:
    """Add a `require approval` reason if the caller asks for it, asserts what only a person can see, or is a model that
    answers an agent's dialog.

    It cannot override a denial.
    """
    if preconditions.asks:
        reason = VerdictReason("default", "asked_for", "ask", "the caller is configured to require approval")
    elif isinstance(decision.action, SendText) and decision.action.at_prompt and actor.kind != "human":
        reason = VerdictReason("default", "asserted_prompt", "ask", "a program asserts that a shell is at its prompt")
    elif isinstance(decision.action, AnswerDialog) and actor.kind == "mcp" and decision.action.choice != "deny":
        reason = VerdictReason("default", "answers_dialog", "ask", "a model's answer to a dialog is an approval")
        # No grant covers it: a person decides each time.
        decision = replace(decision, capabilities=())
    else:
        return decision
    verdict = combine_reasons((*decision.verdict.reasons, reason), decision.verdict.retry_at)
    return replace(decision, verdict=verdict)


def _build_denied_error(verdict: Verdict, correlation: str) -> Refused:
    details: dict[str, ErrorDetail] = {
        "outcome": "denied",
        "correlation": correlation,
        "reasons": [f"{reason.source} {reason.id}: {reason.answer}" for reason in verdict.reasons],
        "retry_at": None if verdict.retry_at is None else format_timestamp(verdict.retry_at),
    }
    return Refused(f"the policy denies this: {verdict.why}", details=details)
