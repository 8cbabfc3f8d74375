"""A Door in memory for tests of operations: it keeps what was wanted, and answers what the test says."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS, Clock
from termvisor.errors import BadRequest, Conflict, NotUndoable, VisorError
from termvisor.model.action.action import Action, Actor, SendText
from termvisor.model.action.approval import Approval, ApprovalAnswer, ApprovalState, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter, ChainBreak
from termvisor.model.action.hash_chain import HashChainEntry, hash_entry
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
        """The questions that were answered for longer than once."""
        self._bus: Bus[Approval] = Bus()

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        return [one for one in self.approvals if not is_open or one.state == "open"][-limit:]

    async def find(self, approval_id: int) -> Approval | None:
        return next((one for one in self.approvals if one.id == approval_id), None)

    async def answer(self, approval_id: int, answer: ApprovalAnswer, *, is_lasting: bool = False) -> Approval:
        known = await self.find(approval_id)
        if known is None:
            raise BadRequest(f"there is no question {approval_id}")
        if known.state != "open":
            raise Conflict(f"question {approval_id} is {known.state}")
        self.lasting_answers += [approval_id] if is_lasting else []
        answered = replace(known, state=_STATE_BY_ANSWER[answer])
        self.approvals[self.approvals.index(known)] = answered
        self._bus.publish(answered)
        return answered

    def subscribe(self) -> AbstractContextManager[Subscription[Approval]]:
        return self._open_subscription()

    @contextmanager
    def _open_subscription(self) -> Iterator[Subscription[Approval]]:
        with self._bus.subscribe() as news:
            yield news

    def add_request(self, approval: Approval) -> Approval:
        """Somebody asks."""
        asked = replace(approval, id=len(self.approvals) + 1)
        self.approvals.append(asked)
        self._bus.publish(asked)
        return asked

    async def list_permits(self) -> tuple[Permit, ...]:
        return tuple(self.stored_permits)

    async def revoke_permit(self, permit_id: int) -> bool:
        before = len(self.stored_permits)
        self.stored_permits = [one for one in self.stored_permits if one.id != permit_id]
        return len(self.stored_permits) < before


class FakeAudit:
    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []
        self.broken_chain: ChainBreak | None = None
        self.active_policy: Policy | None = Policy()
        self.policy_problem = ""
        self.sample_inverse: UndoAction | None = None
        """What would take back whatever is asked for."""
        self._bus: Bus[None] = Bus()

    def add_entry(self, entry: AuditEntry) -> None:
        """Something is put on record."""
        previous = self.entries[-1].hash if self.entries else ""
        digest = hash_entry(previous, _encode_entry(entry))
        self.entries.append(replace(entry, id=len(self.entries) + 1, previous=previous, hash=digest))
        self._bus.publish(None)

    async def list_chain_entries(self, after: int, limit: int = 500) -> list[HashChainEntry]:
        found = [one for one in self.entries if one.id > after][:limit]
        return [
            HashChainEntry(id=one.id, previous=one.previous, hash=one.hash, entry=_encode_entry(one)) for one in found
        ]

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        found = [
            one for one in self.entries if one.id > (after or 0) and _matches_filter(one, filters or AuditFilter())
        ]
        return found[:limit] if after is not None else found[-limit:]

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
    same = ("pane", "kind", "outcome", "correlation", "undoes")
    return (
        all(getattr(filters, name) in (None, getattr(entry, name)) for name in same)
        and filters.actor in (None, entry.actor.kind, entry.actor.name)
        and (filters.since or 0) <= entry.at <= (entry.at if filters.until is None else filters.until)
    )


class FakeReservations:
    def __init__(self, clock: Clock):
        self._clock = clock
        self.stored_reservations: list[Reservation] = []

    async def reserve(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        taken = next((one for one in self.stored_reservations if one.pane == pane), None)
        if taken is not None and taken.owner != owner:
            raise Conflict(f"pane {pane} is reserved by {taken.owner}")
        now = self._clock.now()
        one = Reservation(
            id=len(self.stored_reservations) + 1, pane=pane, owner=owner, at=now, expires_at=now + int(seconds * NS)
        )
        self.stored_reservations.append(one)
        return one

    async def release(self, reservation_id: int) -> bool:
        before = len(self.stored_reservations)
        self.stored_reservations = [one for one in self.stored_reservations if one.id != reservation_id]
        return len(self.stored_reservations) < before

    async def list(self) -> list[Reservation]:
        return self.stored_reservations


class FakeGate:
    """``done`` is what was wanted; ``outcome`` is answered, or ``error`` raised; ``foreseen`` is what would be said."""

    def __init__(self, clock: Clock, actor: Actor = HUMAN_ACTOR):
        self.actor = actor
        self.approvals, self.audit, self.reservations = FakeApprovals(), FakeAudit(), FakeReservations(clock)
        self.executed: list[tuple[Action, Preconditions]] = []
        self.outcome = Outcome(status="done")
        self.send_outcome: Outcome | None = None
        """What comes of a text, where that is something else."""
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
