"""The gate, opened for one caller."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from msgspec import Struct

from termvisor.actions.agent_commands import Speaker
from termvisor.actions.approvals import Inbox
from termvisor.actions.attempt import Panes
from termvisor.actions.gate import Gate
from termvisor.actions.hook_answer import answered
from termvisor.actions.permission_requests import Pleas
from termvisor.actions.policy_check import PolicyJudge
from termvisor.actions.undo import deed
from termvisor.actions.undo_action import inverse
from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot
from termvisor.model.action.action import Action, Actor, AnswerAgent, Release, Reserve
from termvisor.model.action.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter, BrokenChain
from termvisor.model.action.hash_chain import Link
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.undo import Inverse
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import Foreseen
from termvisor.store import Store


class Behind(Struct):
    """What stands behind every caller's door."""

    gate: Gate
    judge: PolicyJudge
    inbox: Inbox
    store: Store
    clock: Clock
    panes: Panes
    pleas: Pleas
    speaker: Speaker


class LiveDoor:
    def __init__(self, behind: Behind, actor: Actor):
        self._behind, self.actor = behind, actor
        self.inbox = CallersInbox(behind, actor)
        self.ledger = LiveLedger(behind, actor)
        self.reservations = LiveReservations(behind, actor)

    async def do(self, action: Action, terms: Terms) -> Outcome:
        if isinstance(action, AnswerAgent):
            with self._behind.pleas.held(action.pane, "hook"):
                return await answered(self._behind.gate, action, self.actor, terms)
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
    def __init__(self, behind: Behind, actor: Actor):
        self._behind, self._actor = behind, actor

    async def inverse(self, which: str, panes: Sequence[PaneView]) -> Inverse:
        return inverse(await deed(self._behind.store.audit, which, self._actor), panes)

    async def links(self, after: int, limit: int = 500) -> list[Link]:
        return await self._behind.store.audit.links(after, limit)

    async def list(
        self, *, after: int | None = None, only: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        return await self._behind.store.audit.list(after=after, only=only, limit=limit)

    def news(self) -> AbstractContextManager[Subscription[None]]:
        return self._behind.store.audit.news.subscribe()

    async def verify(self, kept: str = "") -> BrokenChain | None:
        return await self._behind.store.audit.verify(kept)

    def policy(self) -> tuple[Policy | None, str]:
        return self._behind.judge.file.current(), self._behind.judge.file.trouble


class LiveReservations:
    def __init__(self, behind: Behind, actor: Actor):
        self._behind, self._actor = behind, actor

    async def hold(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        await self._behind.gate.do(Reserve(pane=pane, owner=owner, seconds=seconds), self._actor, Terms(owner=owner))
        held = await self._behind.store.reservations.of(pane, self._behind.clock.now())
        if held is None:
            raise StaleSnapshot(f"the reservation of pane {pane} is over already")
        return held

    async def release(self, number: int) -> bool:
        held = next((one for one in await self.list() if one.id == number), None)
        if held is not None:
            await self._behind.gate.do(Release(pane=held.pane, reservation=number), self._actor, Terms())
        return held is not None

    async def list(self) -> list[Reservation]:
        return await self._behind.store.reservations.list(self._behind.clock.now())
