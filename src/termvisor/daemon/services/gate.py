"""Serve the gate to one caller: actions, approvals, the audit log and reservations under the caller's identity."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from msgspec import Struct

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.gate import Gate
from termvisor.actions.pane_snapshot import PaneAccess
from termvisor.actions.permission_requests.broker import PermissionBroker
from termvisor.actions.policy_check import PolicyChecker
from termvisor.actions.undo import find_undoable_action
from termvisor.actions.undo_action import build_inverse
from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot
from termvisor.model.action.action import Action, Actor, AnswerAgent, Release, Reserve
from termvisor.model.action.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.hash_chain import ChainBreak, HashChainEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.undo import UndoAction
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import GatePreview
from termvisor.store import Store


class GateComponents(Struct):
    """The gate and its parts, shared by all callers."""

    gate: Gate
    policy_checker: PolicyChecker
    approvals: ApprovalQueue
    store: Store
    clock: Clock
    panes: PaneAccess
    permission_broker: PermissionBroker


class CallerGate:
    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self.actor = gate_components, actor
        self.approvals = CallerApprovals(gate_components, actor)
        self.audit = CallerAudit(gate_components, actor)
        self.reservations = CallerReservations(gate_components, actor)

    async def run(self, action: Action, preconditions: Preconditions) -> Outcome:
        if isinstance(action, AnswerAgent):
            return await self._gate_components.permission_broker.answer_hook(action, self.actor, preconditions)
        return await self._gate_components.gate.run(action, self.actor, preconditions)

    async def preview(self, action: Action, preconditions: Preconditions) -> GatePreview:
        verdict, refused, path = await self._gate_components.gate.preview(action, self.actor, preconditions)
        return GatePreview(
            verdict=verdict,
            path=tuple(path),
            refused=refused.why if refused else "",
            refused_text=refused.text if refused else "",
        )


class CallerApprovals:
    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self._actor = gate_components, actor

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        await self._gate_components.approvals.expire()
        return await self._gate_components.store.approvals.list(is_open=is_open, limit=limit)

    async def find(self, approval_id: int) -> Approval | None:
        await self._gate_components.approvals.expire()
        return await self._gate_components.store.approvals.find(approval_id)

    async def answer(self, approval_id: int, answer: ApprovalAnswer, *, is_lasting: bool = False) -> Approval:
        return await self._gate_components.approvals.answer(approval_id, answer, self._actor, lasting=is_lasting)

    def subscribe(self) -> AbstractContextManager[Subscription[Approval]]:
        return self._gate_components.approvals.updates.subscribe()

    async def list_permits(self) -> tuple[Permit, ...]:
        return tuple(await self._gate_components.store.permits.list(self._gate_components.clock.now()))

    async def revoke_permit(self, permit_id: int) -> bool:
        return await self._gate_components.store.permits.revoke(permit_id, self._gate_components.clock.now())


class CallerAudit:
    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self._actor = gate_components, actor

    async def find_inverse(self, which: str, panes: Sequence[PaneView]) -> UndoAction:
        return build_inverse(await find_undoable_action(self._gate_components.store.audit, which, self._actor), panes)

    async def list_chain_entries(self, after: int, limit: int = 500) -> list[HashChainEntry]:
        return await self._gate_components.store.audit.list_chain_entries(after, limit)

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        return await self._gate_components.store.audit.list(after=after, filters=filters, limit=limit)

    def subscribe(self) -> AbstractContextManager[Subscription[None]]:
        return self._gate_components.store.audit.updates.subscribe()

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        return await self._gate_components.store.audit.verify(expected_hash)

    def load_policy(self) -> tuple[Policy | None, str]:
        return (
            self._gate_components.policy_checker.file.get_current(),
            self._gate_components.policy_checker.file.problem,
        )


class CallerReservations:
    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self._actor = gate_components, actor

    async def reserve(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        await self._gate_components.gate.run(
            Reserve(pane=pane, owner=owner, seconds=seconds), self._actor, Preconditions(owner=owner)
        )
        held = await self._gate_components.store.reservations.find_for_pane(pane, self._gate_components.clock.now())
        if held is None:
            raise StaleSnapshot(f"the reservation of pane {pane} already expired")
        return held

    async def release(self, reservation_id: int) -> bool:
        held = next((reservation for reservation in await self.list() if reservation.id == reservation_id), None)
        if held is not None:
            await self._gate_components.gate.run(
                Release(pane=held.pane, reservation=reservation_id), self._actor, Preconditions()
            )
        return held is not None

    async def list(self) -> list[Reservation]:
        return await self._gate_components.store.reservations.list(self._gate_components.clock.now())
