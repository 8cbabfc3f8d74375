"""Questions to people: asked once, answered in time, good for one exact action. Lasting permits spare the question."""

import asyncio
from contextlib import suppress

from termvisor.actions.audit_entry import AuditContext, redact_action
from termvisor.actions.policy_check import PolicyDecision
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import ErrorDetail, NeedsApproval, Refused, VisorError
from termvisor.model.action.action import Actor, AnswerAgent, AskPerson, assess_risk, find_action_pane, get_action_kind
from termvisor.model.action.approval import Approval, ApprovalAnswer, ApprovalVote, Permit, PermitScope
from termvisor.model.action.audit import AuditEntry
from termvisor.store import Store

PERMIT_DURATION_S = 8 * 3600.0
"""Seconds that "allow for this session" lasts."""


class ApprovalQueue:
    def __init__(self, store: Store, clock: Clock, updates: Bus[Approval] | None = None):
        self._store, self._clock = store, clock
        self.updates: Bus[Approval] = updates or Bus()
        """Questions as they are asked, answered or expire."""

    async def require_approval(self, audit: AuditContext, decision: PolicyDecision, timeout: float) -> None:
        """Returns when the action is allowed. Raises ``NeedsApproval`` while nobody answered, ``Refused`` on a no.

        A permit, which one person gave, spares the question to one person only.
        """
        if decision.needs == 1 and await self._is_permitted(audit):
            return
        now = self._clock.now()
        number = await self._store.approvals.find_allowed(audit.action_hash, audit.actor.uid, now, decision.needs)
        if number is None:
            asked = await self._ask_person(audit, decision, now)
            number = asked.id
            try:
                answered = await self._wait_for_answer(asked, timeout)
            except asyncio.CancelledError:
                await self._withdraw(audit, asked)
                raise
            _raise_unless_allowed(answered)
        if not await self._store.approvals.consume(number, audit.action_hash, self._clock.now()):
            raise Refused(f"the answer to question {number} no longer holds", details={"question": number})

    async def answer(self, approval_id: int, answer: ApprovalAnswer, by: Actor, *, lasting: bool = False) -> Approval:
        """What a person says; with ``lasting`` the same caller may do this kind of thing in this pane for a while."""
        if answer != "deny" and by.kind != "human":
            raise Refused("only a person may say yes", hint="Answer it at a terminal: `visor inbox`.")
        now = self._clock.now()
        known = await self._store.approvals.find(approval_id)
        if known is not None and _is_asker(known, by):
            raise Refused(
                f"question {approval_id} was asked from this very pane", hint="Answer it from another terminal."
            )
        entry = _build_answer_entry(known, approval_id, answer, by, now)
        approval = await self._store.approvals.answer(approval_id, ApprovalVote(_format_actor(by), answer, now), entry)
        if lasting and approval.state == "allowed" and approval.needs == 1:
            permit = Permit(
                at=now,
                expires_at=now + int(PERMIT_DURATION_S * NS),
                scope=_build_scope(approval),
                who=_format_actor(by),
            )
            await self._store.permits.add(permit)
        self.updates.publish(approval)
        return approval

    async def expire(self) -> None:
        """Close what nobody answered in time."""
        for approval in await self._store.approvals.expire(self._clock.now()):
            self.updates.publish(approval)

    async def _ask_person(self, audit: AuditContext, decision: PolicyDecision, now: int) -> Approval:
        approval = Approval(
            at=now,
            expires_at=now + int(_compute_expiry_s(audit, decision) * NS),
            correlation=audit.correlation,
            action_hash=audit.action_hash,
            kind=get_action_kind(audit.action),
            actor=audit.actor,
            risk=assess_risk(audit.action),
            pane=find_action_pane(audit.action),
            place=audit.pane_location,
            into=audit.preconditions.into,
            owner=audit.preconditions.owner,
            shown=redact_action(audit.action),
            reasons=decision.verdict.reasons,
            needs=decision.needs,
        )
        asked = await self._store.approvals.add_request(
            approval, audit.build_entry("asked", now, verdict=decision.verdict)
        )
        self.updates.publish(asked)
        return asked

    async def _wait_for_answer(self, approval: Approval, timeout: float) -> Approval:
        """The question once it is no longer open, or as it is when the time is over; it expires under who waits too."""
        with self.updates.subscribe() as news:
            lasts_for = (approval.expires_at - self._clock.now()) / NS
            until = self._clock.monotonic() + min(timeout, lasts_for)
            current = await self._store.approvals.find(approval.id) or approval
            while current.state == "open" and (left := until - self._clock.monotonic()) > 0:
                try:
                    async with asyncio.timeout(left):
                        await news.get()
                except TimeoutError:
                    pass
                current = await self._store.approvals.find(approval.id) or approval
        if current.state == "open" and timeout >= lasts_for:
            await self.expire()
            current = await self._store.approvals.find(approval.id) or approval
        return current

    async def _withdraw(self, audit: AuditContext, approval: Approval) -> None:
        """An agent does not come back to its question; others may ask again and find it answered."""
        if not isinstance(audit.action, AnswerAgent):
            return
        with suppress(VisorError):  # a daemon that ends may have closed the store
            withdrawn = await self._store.approvals.withdraw(approval.id)
            if withdrawn is not None:
                self.updates.publish(withdrawn)

    async def _is_permitted(self, audit: AuditContext) -> bool:
        permits = await self._store.permits.list(self._clock.now())
        return any(_is_covered_by(permit.scope, audit) for permit in permits)


_REFUSAL_TEXTS = {
    "denied": "a person said no",
    "edited": "a person does it in other words",
    "expired": "nobody answered in time",
    "withdrawn": "who asked no longer waits",
}


def _raise_unless_allowed(approval: Approval) -> None:
    number, state = approval.id, approval.state
    details: dict[str, ErrorDetail] = {"question": number, "expires_at": approval.expires_at}
    if state == "open":
        hint = _APPROVE_HINT.format(number) if approval.needs == 1 else _TWO_PEOPLE_HINT
        raise NeedsApproval(_describe_missing_answers(approval), hint=hint, details=details)
    if state in _REFUSAL_TEXTS:
        details |= {"why": state, "correlation": approval.correlation}
        hint = "`visor audit` tells what was done instead." if state == "edited" else "Ask again if it is still wanted."
        raise Refused(f"{_REFUSAL_TEXTS[state]} (question {number})", hint=hint, details=details)


_APPROVE_HINT = "`visor approve {}` allows it; then call again. `visor inbox` shows it."
_TWO_PEOPLE_HINT = (
    "People are told apart by their user, and the daemon hears only its own: it waits in vain and will expire."
)


def _describe_missing_answers(approval: Approval) -> str:
    """How many people have still to say yes."""
    if approval.needs == 1:
        return f"a person must allow this first (question {approval.id})"
    said = sum(voice.answer == "allow" for voice in approval.voices)
    return f"{approval.needs} people must allow this first, {said} did (question {approval.id})"


def _compute_expiry_s(audit: AuditContext, decision: PolicyDecision) -> float:
    """An agent waits only so long, and an answer that comes later would be lost on it."""
    if isinstance(audit.action, AskPerson):
        return audit.preconditions.wait_for_answer
    is_plea = isinstance(audit.action, AnswerAgent)
    return min(decision.expires_for, audit.preconditions.wait_for_answer) if is_plea else decision.expires_for


def _is_covered_by(scope: PermitScope, audit: AuditContext) -> bool:
    actor = audit.actor
    is_theirs = (scope.actor_kind, scope.actor_name, scope.uid) == (actor.kind, actor.name, actor.uid)
    return (
        is_theirs
        and scope.kind == get_action_kind(audit.action)
        and scope.pane in (None, find_action_pane(audit.action))
    )


def _build_scope(approval: Approval) -> PermitScope:
    actor = approval.actor
    return PermitScope(
        kind=approval.kind, actor_kind=actor.kind, actor_name=actor.name, uid=actor.uid, pane=approval.pane
    )


def _is_asker(approval: Approval, by: Actor) -> bool:
    """Whoever asks, and is no person, does not answer themselves."""
    asker = approval.actor
    if asker.kind == "human":
        return False
    return asker.pid == by.pid or (asker.pane is not None and asker.pane == by.pane)


def _format_actor(actor: Actor) -> str:
    """People are told apart by their user alone, whatever they call themselves."""
    return f"{actor.kind}:{actor.uid}" + (f":{actor.name}" if actor.name and actor.kind != "human" else "")


def _build_answer_entry(approval: Approval | None, approval_id: int, answer: str, by: Actor, at: int) -> AuditEntry:
    return AuditEntry(
        at=at,
        correlation=approval.correlation if approval else "",
        stage="answered",
        kind=approval.kind if approval else "approval",
        actor=by,
        pane=approval.pane if approval else None,
        place=approval.place if approval else "",
        action_hash=approval.action_hash if approval else "",
        observed={"question": approval_id},
        outcome=answer,
    )
