"""Questions to people: asked once, answered in time, good for one exact action. Lasting permits spare the question."""

import asyncio
from contextlib import suppress

from termvisor.actions.audit_entry import Case, shown
from termvisor.actions.policy_check import Judged
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import Detail, NeedsApproval, Refused, VisorError
from termvisor.model.action.action import Actor, AnswerAgent, AskPerson, kind_of, pane_of, risk_of
from termvisor.model.action.approval import Approval, ApprovalAnswer, Permit, Scope, Voice
from termvisor.model.action.audit import AuditEntry
from termvisor.store import Store

PERMIT_FOR = 8 * 3600.0
"""Seconds that "allow for this session" lasts."""


class Inbox:
    def __init__(self, store: Store, clock: Clock, news: Bus[Approval] | None = None):
        self._store, self._clock = store, clock
        self.news: Bus[Approval] = news or Bus()
        """Questions as they are asked, answered or expire."""

    async def clear(self, case: Case, judged: Judged, wait_for: float) -> None:
        """Returns when the action is allowed. Raises ``NeedsApproval`` while nobody answered, ``Refused`` on a no.

        A permit, which one person gave, spares the question to one person only.
        """
        if judged.needs == 1 and await self._is_permitted(case):
            return
        now = self._clock.now()
        number = await self._store.approvals.allowed(case.action_hash, case.actor.uid, now, judged.needs)
        if number is None:
            asked = await self._ask(case, judged, now)
            number = asked.id
            try:
                answered = await self._answered(asked, wait_for)
            except asyncio.CancelledError:
                await self._withdraw(case, asked)
                raise
            _judge_answer(answered)
        if not await self._store.approvals.use(number, case.action_hash, self._clock.now()):
            raise Refused(f"the answer to question {number} no longer holds", details={"question": number})

    async def answer(self, number: int, answer: ApprovalAnswer, by: Actor, *, lasting: bool = False) -> Approval:
        """What a person says; with ``lasting`` the same caller may do this kind of thing in this pane for a while."""
        if answer != "deny" and by.kind != "human":
            raise Refused("only a person may say yes", hint="Answer it at a terminal: `visor inbox`.")
        now = self._clock.now()
        known = await self._store.approvals.one(number)
        if known is not None and _is_own(known, by):
            raise Refused(f"question {number} was asked from this very pane", hint="Answer it from another terminal.")
        entry = _answered_entry(known, number, answer, by, now)
        approval = await self._store.approvals.answer(number, Voice(_who(by), answer, now), entry)
        if lasting and approval.state == "allowed" and approval.needs == 1:
            permit = Permit(at=now, expires_at=now + int(PERMIT_FOR * NS), scope=_scope(approval), who=_who(by))
            await self._store.permits.add(permit)
        self.news.publish(approval)
        return approval

    async def expire(self) -> None:
        """Close what nobody answered in time."""
        for approval in await self._store.approvals.expire(self._clock.now()):
            self.news.publish(approval)

    async def _ask(self, case: Case, judged: Judged, now: int) -> Approval:
        approval = Approval(
            at=now,
            expires_at=now + int(_lasts_for(case, judged) * NS),
            correlation=case.correlation,
            action_hash=case.action_hash,
            kind=kind_of(case.action),
            actor=case.actor,
            risk=risk_of(case.action),
            pane=pane_of(case.action),
            place=case.place,
            into=case.terms.into,
            owner=case.terms.owner,
            shown=shown(case.action),
            reasons=judged.verdict.reasons,
            needs=judged.needs,
        )
        asked = await self._store.approvals.ask(approval, case.entry("asked", now, verdict=judged.verdict))
        self.news.publish(asked)
        return asked

    async def _answered(self, asked: Approval, wait_for: float) -> Approval:
        """The question once it is no longer open, or as it is when the time is over; it expires under who waits too."""
        with self.news.subscribe() as news:
            lasts_for = (asked.expires_at - self._clock.now()) / NS
            until = self._clock.monotonic() + min(wait_for, lasts_for)
            current = await self._store.approvals.one(asked.id) or asked
            while current.state == "open" and (left := until - self._clock.monotonic()) > 0:
                try:
                    async with asyncio.timeout(left):
                        await news.get()
                except TimeoutError:
                    pass
                current = await self._store.approvals.one(asked.id) or asked
        if current.state == "open" and wait_for >= lasts_for:
            await self.expire()
            current = await self._store.approvals.one(asked.id) or asked
        return current

    async def _withdraw(self, case: Case, asked: Approval) -> None:
        """An agent does not come back to its question; others may ask again and find it answered."""
        if not isinstance(case.action, AnswerAgent):
            return
        with suppress(VisorError):  # a daemon that ends may have closed the store
            withdrawn = await self._store.approvals.withdraw(asked.id)
            if withdrawn is not None:
                self.news.publish(withdrawn)

    async def _is_permitted(self, case: Case) -> bool:
        permits = await self._store.permits.list(self._clock.now())
        return any(_covers(permit.scope, case) for permit in permits)


_NO = {
    "denied": "a person said no",
    "edited": "a person does it in other words",
    "expired": "nobody answered in time",
    "withdrawn": "who asked no longer waits",
}


def _judge_answer(approval: Approval) -> None:
    number, state = approval.id, approval.state
    details: dict[str, Detail] = {"question": number, "expires_at": approval.expires_at}
    if state == "open":
        hint = _HINT.format(number) if approval.needs == 1 else _HINT_TWO
        raise NeedsApproval(_missing(approval), hint=hint, details=details)
    if state in _NO:
        details |= {"why": state, "correlation": approval.correlation}
        hint = "`visor audit` tells what was done instead." if state == "edited" else "Ask again if it is still wanted."
        raise Refused(f"{_NO[state]} (question {number})", hint=hint, details=details)


_HINT = "`visor approve {}` allows it; then call again. `visor inbox` shows it."
_HINT_TWO = "People are told apart by their user, and the daemon hears only its own: it waits in vain and will expire."


def _missing(approval: Approval) -> str:
    """How many people have still to say yes."""
    if approval.needs == 1:
        return f"a person must allow this first (question {approval.id})"
    said = sum(voice.answer == "allow" for voice in approval.voices)
    return f"{approval.needs} people must allow this first, {said} did (question {approval.id})"


def _lasts_for(case: Case, judged: Judged) -> float:
    """An agent waits only so long, and an answer that comes later would be lost on it."""
    if isinstance(case.action, AskPerson):
        return case.terms.wait_for_answer
    is_plea = isinstance(case.action, AnswerAgent)
    return min(judged.expires_for, case.terms.wait_for_answer) if is_plea else judged.expires_for


def _covers(scope: Scope, case: Case) -> bool:
    actor = case.actor
    is_theirs = (scope.actor_kind, scope.actor_name, scope.uid) == (actor.kind, actor.name, actor.uid)
    return is_theirs and scope.kind == kind_of(case.action) and scope.pane in (None, pane_of(case.action))


def _scope(approval: Approval) -> Scope:
    actor = approval.actor
    return Scope(kind=approval.kind, actor_kind=actor.kind, actor_name=actor.name, uid=actor.uid, pane=approval.pane)


def _is_own(approval: Approval, by: Actor) -> bool:
    """Whoever asks, and is no person, does not answer themselves."""
    asker = approval.actor
    if asker.kind == "human":
        return False
    return asker.pid == by.pid or (asker.pane is not None and asker.pane == by.pane)


def _who(actor: Actor) -> str:
    """People are told apart by their user alone, whatever they call themselves."""
    return f"{actor.kind}:{actor.uid}" + (f":{actor.name}" if actor.name and actor.kind != "human" else "")


def _answered_entry(known: Approval | None, number: int, answer: str, by: Actor, at: int) -> AuditEntry:
    return AuditEntry(
        at=at,
        correlation=known.correlation if known else "",
        stage="answered",
        kind=known.kind if known else "approval",
        actor=by,
        pane=known.pane if known else None,
        place=known.place if known else "",
        action_hash=known.action_hash if known else "",
        observed={"question": number},
        outcome=answer,
    )
