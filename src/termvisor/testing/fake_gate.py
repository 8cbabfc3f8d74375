"""A fake gate for tests of operations: it records actions and returns the outcomes set by the test."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS, Clock
from termvisor.errors import BadRequest, Conflict, NotUndoable, VisorError
from termvisor.model.action.action import Action, Actor, SendText
from termvisor.model.action.approval import Approval, ApprovalAnswer, ApprovalState, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.hash_chain import ChainBreak, HashChainEntry, hash_entry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.undo import UndoAction
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import GatePreview

_STATE_BY_ANSWER: dict[ApprovalAnswer, ApprovalState] = {"allow": "allowed", "deny": "denied", "edit": "edited"}
HUMAN_ACTOR = Actor(kind="human", uid=1000, pid=4200)


class FakeApprovals:
    def __init__(self) -> None:
        self.approvals: list[Approval] = []
        self.stored_permits: list[Permit] = []
        self.lasting_answers: list[int] = []
        """The ids of requests that were answered with a permit."""
        self._bus: Bus[Approval] = Bus()

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        return [approval for approval in self.approvals if not is_open or approval.state == "open"][-limit:]

    async def find(self, approval_id: int) -> Approval | None:
        return next((approval for approval in self.approvals if approval.id == approval_id), None)

    async def answer(self, approval_id: int, answer: ApprovalAnswer, *, is_lasting: bool = False) -> Approval:
        approval = await self.find(approval_id)
        if approval is None:
            raise BadRequest(f"request {approval_id} not found")
        if approval.state != "open":
            raise Conflict(f"request {approval_id} is {approval.state}")
        self.lasting_answers += [approval_id] if is_lasting else []
        answered = replace(approval, state=_STATE_BY_ANSWER[answer])
        self.approvals[self.approvals.index(approval)] = answered
        self._bus.publish(answered)
        return answered

    def subscribe(self) -> AbstractContextManager[Subscription[Approval]]:
        return self._bus.subscribe()

    def add_request(self, approval: Approval) -> Approval:
        """Simulate a new approval request."""
        stored = replace(approval, id=len(self.approvals) + 1)
        self.approvals.append(stored)
        self._bus.publish(stored)
        return stored

    async def list_permits(self) -> tuple[Permit, ...]:
        return tuple(self.stored_permits)

    async def revoke_permit(self, permit_id: int) -> bool:
        before = len(self.stored_permits)
        self.stored_permits = [permit for permit in self.stored_permits if permit.id != permit_id]
        return len(self.stored_permits) < before


class FakeAudit:
    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []
        self.broken_chain: ChainBreak | None = None
        self.active_policy: Policy | None = Policy()
        self.policy_problem = ""
        self.sample_inverse: UndoAction | None = None
        """The inverse of every action."""
        self._bus: Bus[None] = Bus()

    def add_entry(self, entry: AuditEntry) -> None:
        """Append an entry to the hash chain."""
        previous = self.entries[-1].hash if self.entries else ""
        digest = hash_entry(previous, _encode_entry(entry))
        self.entries.append(replace(entry, id=len(self.entries) + 1, previous=previous, hash=digest))
        self._bus.publish(None)

    async def list_chain_entries(self, after: int, limit: int = 500) -> list[HashChainEntry]:
        entries = [entry for entry in self.entries if entry.id > after][:limit]
        return [
            HashChainEntry(id=entry.id, previous=entry.previous, hash=entry.hash, entry=_encode_entry(entry))
            for entry in entries
        ]

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        filters = filters or AuditFilter()
        entries = [entry for entry in self.entries if entry.id > (after or 0) and _matches_filter(entry, filters)]
        return entries[:limit] if after is not None else entries[-limit:]

    def subscribe(self) -> AbstractContextManager[Subscription[None]]:
        return self._bus.subscribe()

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        return self.broken_chain

    async def find_inverse(self, which: str, panes: Sequence[PaneView]) -> UndoAction:
        if self.sample_inverse is None:
            raise NotUndoable(f"{which} has no inverse")
        return self.sample_inverse

    def load_policy(self) -> tuple[Policy | None, str]:
        return self.active_policy, self.policy_problem


def _encode_entry(entry: AuditEntry) -> str:
    return msgspec.json.encode(replace(entry, id=0, previous="", hash="")).decode()


def _matches_filter(entry: AuditEntry, filters: AuditFilter) -> bool:
    equal_fields = ("pane", "kind", "outcome", "correlation", "undoes")
    return (
        all(getattr(filters, name) in (None, getattr(entry, name)) for name in equal_fields)
        and filters.actor in (None, entry.actor.kind, entry.actor.name)
        and (filters.since or 0) <= entry.at <= (entry.at if filters.until is None else filters.until)
    )


class FakeReservations:
    def __init__(self, clock: Clock):
        self._clock = clock
        self.stored_reservations: list[Reservation] = []

    async def reserve(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        held = next((reservation for reservation in self.stored_reservations if reservation.pane == pane), None)
        if held is not None and held.owner != owner:
            raise Conflict(f"pane {pane} is reserved by {held.owner}")
        now = self._clock.now()
        reservation = Reservation(
            id=len(self.stored_reservations) + 1, pane=pane, owner=owner, at=now, expires_at=now + int(seconds * NS)
        )
        self.stored_reservations.append(reservation)
        return reservation

    async def release(self, reservation_id: int) -> bool:
        before = len(self.stored_reservations)
        self.stored_reservations = [item for item in self.stored_reservations if item.id != reservation_id]
        return len(self.stored_reservations) < before

    async def list(self) -> list[Reservation]:
        return self.stored_reservations


class FakeGate:
    """`run` records the action in ``executed`` and returns ``outcome`` or raises ``error``."""

    def __init__(self, clock: Clock, actor: Actor = HUMAN_ACTOR):
        self.actor = actor
        self.approvals, self.audit, self.reservations = FakeApprovals(), FakeAudit(), FakeReservations(clock)
        self.executed: list[tuple[Action, Preconditions]] = []
        self.outcome = Outcome(status="done")
        self.send_outcome: Outcome | None = None
        """The outcome of SendText, if it differs from ``outcome``."""
        self.error: VisorError | None = None
        verdict = combine_reasons((VerdictReason(source="default", id="human.input", answer="allow"),))
        self.preview_result = GatePreview(verdict=verdict, path=("send_text by human", "allow"))

    async def run(self, action: Action, preconditions: Preconditions) -> Outcome:
        self.executed.append((action, preconditions))
        if self.error is not None:
            raise self.error
        return self.send_outcome if self.send_outcome and isinstance(action, SendText) else self.outcome

    async def preview(self, action: Action, preconditions: Preconditions) -> GatePreview:
        return self.preview_result
