"""Request approvals from people, record their answers, and grant permits.

Invariant: an approval is valid once, for one exact action and until it expires.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from msgspec.structs import replace

from termvisor.actions.attempt import Attempt, redact_action
from termvisor.actions.unclaimed_requests import AGENT_GONE, ASKED_AGAIN, FindEnding, UnclaimedRequests
from termvisor.bus import Bus
from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import (
    BadRequest,
    ErrorDetail,
    NeedsApproval,
    NotPermitted,
    Refused,
    VisorError,
    build_person_required_error,
)
from termvisor.model.action.action import (
    Action,
    Actor,
    AnswerAgent,
    AskPerson,
    assess_risk,
    find_action_pane,
    get_action_kind,
)
from termvisor.model.action.approval import (
    ANSWERED_ELSEWHERE,
    NO_EXPIRY,
    Approval,
    ApprovalAnswer,
    ApprovalOutcome,
    ApprovalVote,
    Permit,
    PermitGrant,
    PermitScope,
)
from termvisor.model.action.audit import AuditEntry
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.policy.grants import is_covered, widen_to_categories
from termvisor.redaction import redact
from termvisor.store import Store


class ApprovalQueue:
    """``find_ending`` tells from an agent's state how its request ended; None if it may still wait."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        updates: Bus[Approval] | None = None,
        find_ending: FindEnding = lambda _pane: None,
    ):
        self._store, self._clock = store, clock
        self.updates: Bus[Approval] = updates or Bus()
        """Publishes each approval when it is requested, answered, executed, withdrawn or expires."""
        self._unclaimed = UnclaimedRequests(clock, find_ending)
        # Counted, because several callers may wait for the same request.
        self._waiting_counts: Counter[int] = Counter()

    async def require_approval(self, attempt: Attempt) -> int | None:
        """Return once the action is allowed by a permit, an earlier approval, or an answer that arrives while waiting.

        Returns the number of the used approval; None for a permit. A permit comes from one person, so it does not cover
        an action that requires two. Raises ``NeedsApproval`` if there is no answer yet, ``Refused`` on a denial.
        """
        needs = attempt.decision.needs
        # Check permits before open requests, so that a permitted action needs no answer.
        if needs == 1 and await self._is_permitted(attempt):
            return None
        now = self._clock.now()
        number = await self._store.approvals.find_allowed(attempt.action_hash, attempt.actor.uid, now, needs)
        if number is None:
            request = await self._add_request(attempt, now)
            number = request.id
            try:
                answered = await self._wait_for_answer(request, attempt.preconditions.wait_for_answer)
            except asyncio.CancelledError as error:
                await self._leave_request(attempt, request, is_answered=ANSWERED_ELSEWHERE in error.args)
                raise
            if answered.state == "open" and _has_own_dialog(attempt.action):
                self._unclaimed.add(answered)
                # Only this caller gave up; the agent's dialog is still there.
                answered = replace(answered, state="expired")
            _raise_unless_allowed(answered)
        # Two concurrent callers may find the same approval, but only one can use it.
        if not await self._store.approvals.consume(number, attempt.action_hash, self._clock.now()):
            raise await self._build_unusable_error(number)
        return number

    def is_awaited(self, number: int) -> bool:
        """Return True if a caller waits for the answer to this request, or an agent's dialog may."""
        return self._waiting_counts[number] > 0 or self._unclaimed.has(number)

    def has_unclaimed_from_own_channel(self, pane: PaneId) -> bool:
        """Return True if the pane's agent made a request by its server or hook, whose connection ended since."""
        return self._unclaimed.has_from_own_channel(pane)

    def recover(self, unsettled: Iterable[Approval]) -> None:
        """Keep the agents' requests that an earlier daemon left unsettled: their dialogs may still be shown."""
        for approval in unsettled:
            self._unclaimed.add(approval)

    async def record_outcome(self, number: int, outcome: ApprovalOutcome) -> None:
        """Store and publish the outcome of an answered request."""
        if (approval := await self._store.approvals.set_outcome(number, outcome)) is not None:
            self.updates.publish(approval)

    async def answer(
        self,
        approval_id: int,
        answer: ApprovalAnswer,
        by: Actor,
        grant: PermitGrant | None = None,
        *,
        after: int | None = None,
        reason: str = "",
    ) -> Approval:
        """Store a person's answer, and grant the caller what was shown with the request.

        ``after`` is another request that must be executed before this one: so several approvals are a plan. The caller
        is told the ``reason`` of a denial.

        Raises ``Refused`` if ``by`` may not answer this request, ``BadRequest`` if it can be approved once only.
        """
        _require_person(approval_id, answer, by, reason)
        now = self._clock.now()
        known = await self._store.approvals.find(approval_id)
        if known is not None and _is_requester(known, by):
            hint = "Answer it from another terminal."
            raise NotPermitted(f"request {approval_id} came from this pane", hint=hint)
        capabilities = () if known is None or grant is None else _choose_capabilities(known, grant)
        # The answer and its audit entry are written in one transaction.
        entry = AuditEntry(at=now, correlation="", stage="answered", kind="approval", actor=by, outcome=answer)
        observed: dict[str, Scalar] = {"question": approval_id}
        entry = replace(entry, observed=observed | ({"granted": "; ".join(capabilities)} if capabilities else {}))
        entry = entry if known is None else _copy_request(entry, known)
        vote = ApprovalVote(_format_actor(by), answer, now, after, redact(reason))
        approval = await self._store.approvals.answer(approval_id, vote, entry)
        if grant is not None and capabilities and approval.state == "allowed" and approval.needs == 1:
            scope = replace(_build_scope(approval.kind, approval.actor, approval.pane), capabilities=capabilities)
            expires_at = now + int(grant.seconds * NS)
            permit = Permit(at=now, expires_at=expires_at, scope=scope, who=_format_actor(by))
            approval = replace(approval, permit=await self._store.permits.add(permit))
        self.updates.publish(approval)
        return approval

    async def _build_unusable_error(self, number: int) -> Refused:
        approval = await self._store.approvals.find(number)
        if approval is not None and approval.state == "allowed" and approval.after is not None:
            hint = "The plan was approved in this order; run that action first."
            text = f"request {number} may be executed only after request {approval.after}"
            return Refused(text, hint=hint, details={"question": number, "after": approval.after})
        return Refused(f"request {number} was already used or has expired", details={"question": number})

    async def expire(self) -> None:
        """Close the requests that were not answered in time."""
        for approval in await self._store.approvals.expire(self._clock.now()):
            self.updates.publish(approval)
        for approval, ending in self._unclaimed.take_ended():
            await self._withdraw(approval, ending)

    async def _add_request(self, attempt: Attempt, now: int) -> Approval:
        approval = Approval(
            at=now,
            expires_at=_compute_expiry(attempt, now),
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
            capabilities=attempt.decision.capabilities,
        )
        entry = attempt.build_entry("asked", now, verdict=attempt.decision.verdict)
        claimed = self._unclaimed.claim(approval)
        if claimed is not None:
            return await self._store.approvals.bind_request(claimed, approval, entry)
        replaced = self._unclaimed.take_replaced(approval)
        for one in replaced:
            await self._withdraw(one, ASKED_AGAIN)
        # The agent has waited since its first request.
        waits_since = min((one.at for one in replaced), default=now)
        request = await self._store.approvals.add_request(replace(approval, at=waits_since), entry)
        self.updates.publish(request)
        return request

    async def _wait_for_answer(self, approval: Approval, timeout: float) -> Approval:
        """Return the approval once it is answered or expired, or still open after ``timeout`` seconds."""
        # Subscribe before reading the state, or an answer in between would be missed.
        with self._count_waiting(approval.id), self.updates.subscribe() as updates:
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

    @contextmanager
    def _count_waiting(self, number: int) -> Iterator[None]:
        self._waiting_counts[number] += 1
        try:
            yield
        finally:
            self._waiting_counts[number] -= 1

    async def _leave_request(self, attempt: Attempt, approval: Approval, *, is_answered: bool) -> None:
        """Close the request of an agent that no longer waits. Requests of other callers stay open: they may retry."""
        if not isinstance(attempt.action, AnswerAgent):
            return
        ending = self._unclaimed.describe_ending(approval)
        if is_answered and (ending is None or ending.why != AGENT_GONE):
            ending = _ANSWERED_AT_PANE
        if ending is None:
            # A lost connection or a stopping daemon: the agent's dialog may still be shown.
            self._unclaimed.add(approval)
            return
        with suppress(VisorError):  # at shutdown the store may already be closed
            await self._withdraw(approval, ending)

    async def _withdraw(self, approval: Approval, ending: ApprovalOutcome) -> None:
        withdrawn = await self._store.approvals.withdraw(approval.id, ending)
        if withdrawn is not None:
            self.updates.publish(withdrawn)

    async def _is_permitted(self, attempt: Attempt) -> bool:
        kind, pane = get_action_kind(attempt.action), find_action_pane(attempt.action)
        scopes = [_build_scope(kind, attempt.actor, place) for place in (pane, None)]
        permits = await self._store.permits.list(self._clock.now())
        granted = [one.scope for one in permits if replace(one.scope, capabilities=()) in scopes]
        given = [capability for scope in granted for capability in scope.capabilities]
        return is_covered(given, attempt.decision.capabilities)


def _require_person(number: int, answer: ApprovalAnswer, by: Actor, reason: str) -> None:
    if by.kind == "human":
        return
    # Programs may deny, but must not approve: they could approve their own or each other's requests.
    if answer != "deny":
        raise build_person_required_error("approvals", by.doubt, f"visor approve {number}")
    # An agent reads it as a person's words, and a hook hands it over without another look of the policy.
    if reason:
        raise build_person_required_error("reasons", by.doubt, f"visor deny {number} --reason …")


_ANSWERED_AT_PANE = ApprovalOutcome(status="elsewhere", why="answered_at_pane", text="answered at the pane")
_REFUSAL_TEXTS = {
    "denied": "a person denied it",
    "edited": "a person ran an edited version of it instead",
    "expired": "no answer in time",
    "withdrawn": "the caller no longer waits for it",
}


def _raise_unless_allowed(approval: Approval) -> None:
    number, state = approval.id, approval.state
    details: dict[str, ErrorDetail] = {"question": number, "expires_at": format_timestamp(approval.expires_at)}
    if state == "open":
        hint = _APPROVE_HINT.format(number) if approval.needs == 1 else _TWO_PEOPLE_HINT
        raise NeedsApproval(_describe_missing_answers(approval), hint=hint, details=details)
    if state in _REFUSAL_TEXTS:
        details |= {"why": state, "correlation": approval.correlation}
        hint = "`visor audit` shows what was run instead." if state == "edited" else "Call again to request it again."
        reason = f": {approval.reason}" if approval.reason else ""
        raise Refused(f"{_REFUSAL_TEXTS[state]}{reason} (request {number})", hint=hint, details=details)


_APPROVE_HINT = "`visor approve {}` allows it; then call again. `visor inbox` shows it."
_TWO_PEOPLE_HINT = (
    "People are distinguished by their uid, and the daemon accepts only its own user: this request can only expire."
)


def _describe_missing_answers(approval: Approval) -> str:
    if approval.needs == 1:
        return f"requires approval (request {approval.id})"
    count = sum(vote.answer == "allow" for vote in approval.voices)
    return f"requires approval by {approval.needs} people, has {count} (request {approval.id})"


def _compute_expiry(attempt: Attempt, now: int) -> int:
    action, expiry, wait = attempt.action, attempt.decision.expires_for, attempt.preconditions.wait_for_answer
    if _has_own_dialog(action):
        return NO_EXPIRY
    if isinstance(action, AskPerson):
        expiry = wait
    elif isinstance(action, AnswerAgent):
        # No dialog of it is known, so an answer after its hook stopped waiting would reach no agent.
        expiry = min(expiry, wait)
    return now + int(expiry * NS)


def _has_own_dialog(action: Action) -> bool:
    """Return True if the agent's own dialog asks the same, so that the request ends with the dialog."""
    return isinstance(action, AnswerAgent) and action.pane is not None


def _build_scope(kind: str, actor: Actor, pane: PaneId | None) -> PermitScope:
    return PermitScope(kind=kind, actor_kind=actor.kind, actor_name=actor.name, uid=actor.uid, pane=pane)


def _copy_request(entry: AuditEntry, request: Approval) -> AuditEntry:
    names = ("correlation", "kind", "pane", "place", "action_hash")
    return replace(entry, **{name: getattr(request, name) for name in names})


def _choose_capabilities(approval: Approval, grant: PermitGrant) -> tuple[str, ...]:
    """Return what to grant: what the request shows, or the categories of it."""
    if not approval.capabilities:
        raise BadRequest(
            f"request {approval.id} can be approved only once: {_describe_asking_reason(approval)}",
            hint=f"Approve this one action with `visor approve {approval.id}`.",
        )
    return widen_to_categories(approval.capabilities) if grant.is_category else approval.capabilities


def _describe_asking_reason(approval: Approval) -> str:
    reason = next((one for one in approval.reasons if one.source == "command" and one.answer == "ask"), None)
    return f"commands of the class {reason.id} are always asked about" if reason else "what it needs cannot be limited"


def _is_requester(approval: Approval, by: Actor) -> bool:
    """Return True if ``by`` is the program that made the request."""
    requester = approval.actor
    if requester.kind == "human":
        return False
    return requester.pid == by.pid or (requester.pane is not None and requester.pane == by.pane)


def _format_actor(actor: Actor) -> str:
    """Return the voter's identity. People are identified by uid alone, because they choose their own names."""
    return f"{actor.kind}:{actor.uid}" + (f":{actor.name}" if actor.name and actor.kind != "human" else "")
