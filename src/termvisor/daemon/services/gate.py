"""Serve the gate to one caller: actions, approvals, the audit log and reservations under the caller's identity."""

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.gate import Gate
from termvisor.actions.pane_snapshot import PaneAccess
from termvisor.actions.permission_requests import PermissionBroker
from termvisor.actions.policy_check import PolicyChecker
from termvisor.actions.undo import build_inverse, find_undoable_action
from termvisor.bus import Subscription
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import Clock
from termvisor.errors import NeedsApproval, Refused, StaleSnapshot, VisorError
from termvisor.model.action.action import Action, Actor, AnswerAgent, Release, Reserve, Spawn
from termvisor.model.action.approval import Approval, ApprovalAnswer, Permit, PermitGrant, Reservation, Verdict
from termvisor.model.action.audit import AuditEntry, AuditFilter, ChainBreak, HashChainEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Preconditions, UndoAction
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.store import Store


class GatePreview(Struct, frozen=True, kw_only=True):
    """The verdict on an action, the policy trace (``path``), and the first failed precondition."""

    verdict: Verdict
    path: tuple[str, ...]
    refused: str = ""
    """Code of the first failed precondition; empty if all hold."""
    refused_text: str = ""
    code: str = ""
    """Code of the error that the action would end with; empty if it would be executed."""
    hint: str = ""


class GateComponents(Struct):
    """The gate and its parts, shared by all callers."""

    gate: Gate
    policy_checker: PolicyChecker
    approvals: ApprovalQueue
    store: Store
    clock: Clock
    panes: PaneAccess
    permission_broker: PermissionBroker
    find_server: Callable[[Spawn], Awaitable[ServerWatcher]] | None = None
    """Return the watcher of the server that an action names, or of the only one."""


class GateService:
    def __init__(self, gate_components: GateComponents, actor: Actor, cause: str = ""):
        self._gate_components, self.actor, self._cause = gate_components, actor, cause
        self.approvals = ApprovalService(gate_components, actor)
        self.audit = AuditService(gate_components, actor)
        self.reservations = ReservationService(gate_components, actor)

    async def run(self, action: Action, preconditions: Preconditions) -> Outcome:
        """Execute an action. Raises Refused, NeedsApproval, StaleSnapshot or Conflict if nothing was executed."""
        # One call may act more than once, and a client may repeat its ids.
        if self._cause and not preconditions.correlation:
            preconditions = replace(preconditions, correlation=f"{self._cause}.{os.urandom(8).hex()}")
        # The agent may also show the same request on its screen; the broker merges both into one approval request.
        if isinstance(action, AnswerAgent):
            return await self._gate_components.permission_broker.answer_hook(action, self.actor, preconditions)
        return await self._gate_components.gate.run(action, self.actor, preconditions)

    async def check_conditions(self, pane: PaneId, preconditions: Preconditions) -> None:
        """Raise StaleSnapshot if the caller's conditions on a pane do not hold, before it is read."""
        await self._gate_components.gate.check_conditions(pane, preconditions)

    async def preview(self, action: Action, preconditions: Preconditions) -> GatePreview:
        """Return the verdict without executing, asking, counting or logging anything."""
        verdict, refused, path = await self._gate_components.gate.preview(action, self.actor, preconditions)
        # In the order of the gate: a denial, a failed precondition, then the request for approval.
        error: VisorError | None = None
        if verdict.answer == "deny":
            error = Refused(verdict.why)
        elif refused is not None:
            error = refused.build_error(pane=getattr(action, "pane", None))
        elif verdict.answer == "ask":
            error = NeedsApproval(verdict.why, hint="A user must approve it: the call itself opens the request.")
        return GatePreview(
            verdict=verdict,
            path=tuple(path),
            refused=refused.why if refused else "",
            refused_text=refused.text if refused else "",
            code=error.code if error else "",
            hint=error.hint if error else "",
        )

    async def find_repeated(self, action: Action, preconditions: Preconditions) -> Outcome | None:
        """Return the outcome of the first call with this idempotency key, which `run` would return; None if it is new.

        Raises the error of `run` if the key belongs to another action, or the first call was refused.
        """
        return await self._gate_components.gate.find_repeated(action, preconditions)


class ApprovalService:
    """Approval requests and permits."""

    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self._store, self._actor = gate_components, gate_components.store, actor

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        # Requests expire when they are read rather than by a timer, so no caller sees an expired one as open.
        await self._gate_components.approvals.expire()
        return await self._store.approvals.list(is_open=is_open, limit=limit)

    async def find(self, approval_id: int) -> Approval | None:
        await self._gate_components.approvals.expire()
        return await self._store.approvals.find(approval_id)

    async def answer(
        self,
        approval_id: int,
        answer: ApprovalAnswer,
        grant: PermitGrant | None = None,
        *,
        after: int | None = None,
        reason: str = "",
    ) -> Approval:
        """Answer a request. Raises BadRequest if it does not exist, Conflict if it is no longer open."""
        queue = self._gate_components.approvals
        return await queue.answer(approval_id, answer, self._actor, grant, after=after, reason=reason)

    def is_awaited(self, approval_id: int) -> bool:
        """Return True if a caller or an agent's dialog waits for the answer, so that its outcome is known soon."""
        return self._gate_components.approvals.is_awaited(approval_id)

    def subscribe(self) -> AbstractContextManager[Subscription[Approval]]:
        return self._gate_components.approvals.updates.subscribe()

    async def list_permits(self) -> tuple[Permit, ...]:
        return tuple(await self._store.permits.list(self._gate_components.clock.now()))

    async def revoke_permit(self, permit_id: int) -> bool:
        return await self._store.permits.revoke(permit_id, self._gate_components.clock.now())


class AuditService:
    """The audit log, undo, and the policy in force."""

    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self._store, self._actor = gate_components, gate_components.store, actor

    async def find_inverse(self, which: str, panes: Sequence[PaneView]) -> UndoAction:
        """Return the action that undoes the one with this correlation id, or the caller's last. Raises NotUndoable."""
        return build_inverse(await find_undoable_action(self._store.audit, which, self._actor), panes)

    async def list_chain_entries(self, after: int, limit: int = 500) -> list[HashChainEntry]:
        """Return the first entries after this id, exactly as stored: NOT redacted again."""
        return await self._store.audit.list_chain_entries(after, limit)

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Return entries, oldest first: the first ones after the id ``after``, else the newest."""
        return await self._store.audit.list(after=after, filters=filters, limit=limit)

    def subscribe(self) -> AbstractContextManager[Subscription[None]]:
        """Subscribe to wake-ups, sent when entries may have been added; read them with `list`."""
        return self._store.audit.updates.subscribe()

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        """Verify the hash chain; return the first break, or None. ``expected_hash`` must be part of the chain."""
        return await self._store.audit.verify(expected_hash)

    def load_policy(self) -> tuple[Policy | None, str]:
        """Return the policy in force, and the error in its file, or ""."""
        file = self._gate_components.policy_checker.file
        # The order matters: reading a changed file sets or clears its problem.
        return file.get_current(), file.problem


class ReservationService:
    def __init__(self, gate_components: GateComponents, actor: Actor):
        self._gate_components, self._store, self._actor = gate_components, gate_components.store, actor

    async def reserve(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        """Reserve a pane. Raises Conflict if another owner holds it."""
        await self._gate_components.gate.run(
            Reserve(pane=pane, owner=owner, seconds=seconds), self._actor, Preconditions(owner=owner)
        )
        # The gate returns only an outcome; the reservation may be an older one that was extended.
        held = await self._store.reservations.find_for_pane(pane, self._gate_components.clock.now())
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
        return await self._store.reservations.list(self._gate_components.clock.now())
