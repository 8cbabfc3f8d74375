"""Request approvals from people, record their answers, and grant permits.

Invariant: an approval is valid once, for one exact action and until it expires.
"""

import asyncio
from contextlib import suppress

from termvisor.actions.attempt import Attempt, redact_action
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import ErrorDetail, NeedsApproval, Refused, VisorError, build_person_required_error
from termvisor.model.action.action import Actor, AnswerAgent, AskPerson, assess_risk, find_action_pane, get_action_kind
from termvisor.model.action.approval import Approval, ApprovalAnswer, ApprovalVote, Permit, PermitScope
from termvisor.model.action.audit import AuditEntry
from termvisor.model.ids import PaneId
from termvisor.store import Store

# How long a permit stays valid, in seconds.
PERMIT_DURATION_S = 8 * 3600.0


class ApprovalQueue:
    def __init__(self, store: Store, clock: Clock, updates: Bus[Approval] | None = None):
        self._store, self._clock = store, clock
        self.updates: Bus[Approval] = updates or Bus()
        """Publishes each approval when it is requested, answered, withdrawn or expires."""

    async def require_approval(self, attempt: Attempt) -> None:
        """Return once the action is allowed by a permit, an earlier approval, or an answer that arrives while waiting.

        Raises ``NeedsApproval`` if there is no answer yet, ``Refused`` on a denial. A permit comes from one person, so
        it does not cover an action that requires two.
        """
        needs = attempt.decision.needs
        # Check permits before open requests, so that a permitted action needs no answer.
        if needs == 1 and await self._is_permitted(attempt):
            return
        now = self._clock.now()
        number = await self._store.approvals.find_allowed(attempt.action_hash, attempt.actor.uid, now, needs)
        if number is None:
            request = await self._add_request(attempt, now)
            number = request.id
            try:
                answered = await self._wait_for_answer(request, attempt.preconditions.wait_for_answer)
            except asyncio.CancelledError:
                await self._withdraw(attempt, request)
                raise
            _raise_unless_allowed(answered)
        # Two concurrent callers may find the same approval, but only one can use it.
        if not await self._store.approvals.consume(number, attempt.action_hash, self._clock.now()):
            raise Refused(f"request {number} was already used or has expired", details={"question": number})

    async def answer(self, approval_id: int, answer: ApprovalAnswer, by: Actor, *, lasting: bool = False) -> Approval:
        """Store a person's answer; ``lasting`` also grants the caller a permit for this kind of action in this pane.

        Raises ``Refused`` if ``by`` may not answer this request.
        """
        # Programs may deny, but must not approve: they could approve their own or each other's requests.
        if answer != "deny" and by.kind != "human":
            raise build_person_required_error("approvals", by.doubt, f"visor approve {approval_id}")
        now = self._clock.now()
        known = await self._store.approvals.find(approval_id)
        if known is not None and _is_requester(known, by):
            hint = "Answer it from another terminal."
            raise Refused(f"request {approval_id} came from this pane", hint=hint)
        # The answer and its audit entry are written in one transaction.
        entry = AuditEntry(
            at=now,
            correlation=known.correlation if known else "",
            stage="answered",
            kind=known.kind if known else "approval",
            actor=by,
            pane=known.pane if known else None,
            place=known.place if known else "",
            action_hash=known.action_hash if known else "",
            observed={"question": approval_id},
            outcome=answer,
        )
        approval = await self._store.approvals.answer(approval_id, ApprovalVote(_format_actor(by), answer, now), entry)
        if lasting and approval.state == "allowed" and approval.needs == 1:
            permit = Permit(
                at=now,
                expires_at=now + int(PERMIT_DURATION_S * NS),
                scope=_build_scope(approval.kind, approval.actor, approval.pane),
                who=_format_actor(by),
            )
            await self._store.permits.add(permit)
        self.updates.publish(approval)
        return approval

    async def expire(self) -> None:
        """Close the requests that were not answered in time."""
        for approval in await self._store.approvals.expire(self._clock.now()):
            self.updates.publish(approval)

    async def _add_request(self, attempt: Attempt, now: int) -> Approval:
        approval = Approval(
            at=now,
            expires_at=now + int(_compute_expiry_s(attempt) * NS),
            correlation=attempt.correlation,
            action_hash=attempt.action_hash,
            kind=get_action_kind(attempt.action),
            actor=attempt.actor,
            risk=assess_risk(attempt.action),
            pane=find_action_pane(attempt.action),
            place=attempt.pane_location,
            into=attempt.preconditions.into,
            owner=attempt.preconditions.owner,
            shown=redact_action(attempt.action),
            reasons=attempt.decision.verdict.reasons,
            needs=attempt.decision.needs,
        )
        entry = attempt.build_entry("asked", now, verdict=attempt.decision.verdict)
        request = await self._store.approvals.add_request(approval, entry)
        self.updates.publish(request)
        return request

    async def _wait_for_answer(self, approval: Approval, timeout: float) -> Approval:
        """Return the approval once it is answered or expired, or still open after ``timeout`` seconds."""
        # Subscribe before reading the state, or an answer in between would be missed.
        with self.updates.subscribe() as updates:
            expires_in = (approval.expires_at - self._clock.now()) / NS
            until = self._clock.monotonic() + min(timeout, expires_in)
            current = await self._store.approvals.find(approval.id) or approval
            while current.state == "open" and (left := until - self._clock.monotonic()) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await updates.get()
                current = await self._store.approvals.find(approval.id) or approval
        # The wait ended because the request has just expired, so close it if nothing else has.
        if current.state == "open" and timeout >= expires_in:
            await self.expire()
            current = await self._store.approvals.find(approval.id) or approval
        return current

    async def _withdraw(self, attempt: Attempt, approval: Approval) -> None:
        """Withdraw a request that came from an agent. Requests of other callers stay open: they may retry later."""
        if not isinstance(attempt.action, AnswerAgent):
            return
        with suppress(VisorError):  # at shutdown the store may already be closed
            withdrawn = await self._store.approvals.withdraw(approval.id)
            if withdrawn is not None:
                self.updates.publish(withdrawn)

    async def _is_permitted(self, attempt: Attempt) -> bool:
        kind, pane = get_action_kind(attempt.action), find_action_pane(attempt.action)
        scopes = [_build_scope(kind, attempt.actor, place) for place in (pane, None)]
        return any(permit.scope in scopes for permit in await self._store.permits.list(self._clock.now()))


_REFUSAL_TEXTS = {
    "denied": "a person denied it",
    "edited": "a person ran an edited version of it instead",
    "expired": "no answer in time",
    "withdrawn": "the caller no longer waits for it",
}


def _raise_unless_allowed(approval: Approval) -> None:
    number, state = approval.id, approval.state
    details: dict[str, ErrorDetail] = {"question": number, "expires_at": approval.expires_at}
    if state == "open":
        hint = _APPROVE_HINT.format(number) if approval.needs == 1 else _TWO_PEOPLE_HINT
        raise NeedsApproval(_describe_missing_answers(approval), hint=hint, details=details)
    if state in _REFUSAL_TEXTS:
        details |= {"why": state, "correlation": approval.correlation}
        hint = "`visor audit` shows what was run instead." if state == "edited" else "Call again to request it again."
        raise Refused(f"{_REFUSAL_TEXTS[state]} (request {number})", hint=hint, details=details)


_APPROVE_HINT = "`visor approve {}` allows it; then call again. `visor inbox` shows it."
_TWO_PEOPLE_HINT = (
    "People are distinguished by their uid, and the daemon accepts only its own user: this request can only expire."
)


def _describe_missing_answers(approval: Approval) -> str:
    if approval.needs == 1:
        return f"requires approval (request {approval.id})"
    count = sum(vote.answer == "allow" for vote in approval.voices)
    return f"requires approval by {approval.needs} people, has {count} (request {approval.id})"


def _compute_expiry_s(attempt: Attempt) -> float:
    """Return the seconds until the request expires, so that an agent gets no answer after it stopped waiting."""
    expiry, wait = attempt.decision.expires_for, attempt.preconditions.wait_for_answer
    if isinstance(attempt.action, AskPerson):
        return wait
    return min(expiry, wait) if isinstance(attempt.action, AnswerAgent) else expiry


def _build_scope(kind: str, actor: Actor, pane: PaneId | None) -> PermitScope:
    return PermitScope(kind=kind, actor_kind=actor.kind, actor_name=actor.name, uid=actor.uid, pane=pane)


def _is_requester(approval: Approval, by: Actor) -> bool:
    """Return True if ``by`` is the program that made the request."""
    requester = approval.actor
    if requester.kind == "human":
        return False
    return requester.pid == by.pid or (requester.pane is not None and requester.pane == by.pane)


def _format_actor(actor: Actor) -> str:
    """Return the voter's identity. People are identified by uid alone, because they choose their own names."""
    return f"{actor.kind}:{actor.uid}" + (f":{actor.name}" if actor.name and actor.kind != "human" else "")
