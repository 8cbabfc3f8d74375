"""The gate, opened for one caller."""

from contextlib import AbstractContextManager

from msgspec import Struct

from termvisor.act.approval import Inbox
from termvisor.act.gate import Gate
from termvisor.act.judging import PolicyJudge
from termvisor.bus import Subscription
from termvisor.clock import NS, Clock
from termvisor.errors import Conflict
from termvisor.model.action import Action, Actor
from termvisor.model.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.audit import AuditEntry, BrokenChain
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome
from termvisor.model.policy import Policy
from termvisor.model.terms import Terms
from termvisor.ops.door import Foreseen
from termvisor.store import Store
from termvisor.store.audit import AuditFilter


class Behind(Struct):
    """What stands behind every caller's door."""

    gate: Gate
    judge: PolicyJudge
    inbox: Inbox
    store: Store
    clock: Clock


class LiveDoor:
    def __init__(self, behind: Behind, actor: Actor):
        self._behind, self.actor = behind, actor
        self.inbox = CallersInbox(behind, actor)
        self.ledger = LiveLedger(behind)
        self.reservations = LiveReservations(behind)

    async def do(self, action: Action, terms: Terms) -> Outcome:
        return await self._behind.gate.do(action, self.actor, terms)

    async def foresee(self, action: Action, terms: Terms) -> Foreseen:
        verdict, refused, path = await self._behind.gate.try_out(action, self.actor, terms)
        return Foreseen(
            verdict=verdict,
            path=tuple(path),
            refused=refused.why if refused else "",
            refused_text=refused.text if refused else "",
        )


class CallersInbox:
    def __init__(self, behind: Behind, actor: Actor):
        self._behind, self._actor = behind, actor

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        await self._behind.inbox.expire()
        return await self._behind.store.approvals.list(is_open=is_open, limit=limit)

    async def one(self, number: int) -> Approval | None:
        await self._behind.inbox.expire()
        return await self._behind.store.approvals.one(number)

    async def answer(self, number: int, answer: ApprovalAnswer, *, lasting: bool = False) -> Approval:
        return await self._behind.inbox.answer(number, answer, self._actor, lasting=lasting)

    def news(self) -> AbstractContextManager[Subscription[Approval]]:
        return self._behind.inbox.news.subscribe()

    async def permits(self) -> tuple[Permit, ...]:
        return tuple(await self._behind.store.permits.list(self._behind.clock.now()))

    async def revoke(self, number: int) -> bool:
        return await self._behind.store.permits.revoke(number, self._behind.clock.now())


class LiveLedger:
    def __init__(self, behind: Behind):
        self._behind = behind

    async def list(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        kind: str | None = None,
        since: int | None = None,
        limit: int = 20,
    ) -> list[AuditEntry]:
        only = AuditFilter(pane=pane, kind=kind, since=since)
        return await self._behind.store.audit.list(after=after, only=only, limit=limit)

    async def verify(self) -> BrokenChain | None:
        return await self._behind.store.audit.verify()

    def policy(self) -> tuple[Policy | None, str]:
        return self._behind.judge.file.current(), self._behind.judge.file.trouble


class LiveReservations:
    def __init__(self, behind: Behind):
        self._behind = behind

    async def hold(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        now = self._behind.clock.now()
        wanted = Reservation(pane=pane, owner=owner, at=now, expires_at=now + int(seconds * NS))
        held = await self._behind.store.reservations.hold(wanted)
        if held.owner != owner:
            raise Conflict(f"pane {pane} is reserved by {held.owner}", details={"reservation": held.id})
        return held

    async def release(self, number: int) -> bool:
        return await self._behind.store.reservations.release(number, self._behind.clock.now())

    async def list(self) -> list[Reservation]:
        return await self._behind.store.reservations.list(self._behind.clock.now())
