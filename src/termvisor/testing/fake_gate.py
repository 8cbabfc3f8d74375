"""A fake gate for tests of operations. It records actions and returns the outcomes set by the test.

Approval requests, permits, reservations and the audit log are the real ones, on the store of the fake services.
"""

from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.policy_check import PolicyFile
from termvisor.clock import NS, Clock
from termvisor.daemon.services.gate import AuditService, GateComponents, GatePreview, GateService
from termvisor.errors import Conflict, NotUndoable, VisorError
from termvisor.model.action.action import Action, Actor, Release, Reserve, RunJob, SendText
from termvisor.model.action.approval import Approval, Reservation, VerdictReason, combine_reasons
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions, UndoAction
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.store import Store
from termvisor.testing.memory_store import run_now

HUMAN_ACTOR = Actor(kind="human", uid=1000, pid=4200)


class FakeGate(GateService):
    """`run` records the action in ``executed`` and returns ``outcome`` or raises ``error``."""

    audit: "FakeAudit"

    def __init__(self, store: Store, clock: Clock, policy_file: str = "/none", actor: Actor = HUMAN_ACTOR):
        self.policy_file = PolicyFile(policy_file)
        self._store, self._approval_queue = store, ApprovalQueue(store, clock)
        parts = GateComponents(
            gate=cast(Any, _ReservationGate(store, clock)),
            # Only its ``file`` is used, because actions are not checked here.
            policy_checker=cast(Any, self),
            approvals=self._approval_queue,
            store=store,
            clock=clock,
            panes=cast(Any, None),
            permission_broker=cast(Any, None),
        )
        super().__init__(parts, actor)
        # Replaces the base class's audit service, whose undo needs a real action in the log.
        self.audit = FakeAudit(parts, actor)
        self.executed: list[tuple[Action, Preconditions]] = []
        self.checked: list[tuple[PaneId, Preconditions]] = []
        self.outcome = Outcome(status="done")
        self.send_outcome: Outcome | None = None
        """The outcome of SendText, if it differs from ``outcome``."""
        self.error: VisorError | None = None
        verdict = combine_reasons((VerdictReason(source="default", id="human.input", answer="allow"),))
        self.preview_result = GatePreview(verdict=verdict, path=("send_text by human", "allow"))

    @property
    def file(self) -> PolicyFile:
        """The policy file, under the name that the audit service uses."""
        return self.policy_file

    async def run(self, action: Action, preconditions: Preconditions) -> Outcome:
        self.executed.append((action, preconditions))
        if self.error is not None:
            raise self.error
        if isinstance(action, RunJob):
            return replace(self.outcome, job=1)
        return self.send_outcome if self.send_outcome and isinstance(action, SendText) else self.outcome

    async def check_conditions(self, pane: PaneId, preconditions: Preconditions) -> None:
        self.checked.append((pane, preconditions))
        if self.error is not None:
            raise self.error

    async def preview(self, action: Action, preconditions: Preconditions) -> GatePreview:
        return self.preview_result

    async def find_repeated(self, action: Action, preconditions: Preconditions) -> Outcome | None:
        return None

    def add_request(self, approval: Approval, entry: AuditEntry) -> Approval:
        """Simulate a new approval request and its audit entry."""
        stored = run_now(self._store.approvals.add_request(approval, entry))
        self._approval_queue.updates.publish(stored)
        return stored

    @property
    def requests(self) -> list[Approval]:
        return run_now(self._store.approvals.list(is_open=False))

    @property
    def entries(self) -> list[AuditEntry]:
        """The whole audit log."""
        return run_now(self._store.audit.list(after=0, limit=10_000))

    def add_entry(self, entry: AuditEntry) -> AuditEntry:
        """Append an entry to the audit log."""
        return run_now(self._store.audit.add([entry]))[0]


class FakeAudit(AuditService):
    """``sample_inverse`` is the inverse of every action."""

    sample_inverse: UndoAction | None = None

    async def find_inverse(self, which: str, panes: Sequence[PaneView]) -> UndoAction:
        if self.sample_inverse is None:
            raise NotUndoable(f"{which} has no inverse")
        return self.sample_inverse


class _ReservationGate:
    """Executes only reservations, without checking the policy."""

    def __init__(self, store: Store, clock: Clock):
        self._reservations, self._clock = store.reservations, clock

    async def run(self, action: Reserve | Release, actor: Actor, preconditions: Preconditions) -> None:
        now = self._clock.now()
        # `reserve` and `release` go through the gate and read the store afterwards.
        if isinstance(action, Release):
            await self._reservations.release(action.reservation, now)
            return
        expires_at = now + int(action.seconds * NS)
        requested = Reservation(pane=action.pane, owner=action.owner, at=now, expires_at=expires_at)
        held = await self._reservations.hold(requested)
        if held.owner != action.owner:
            raise Conflict(f"pane {action.pane} is reserved by {held.owner}")
