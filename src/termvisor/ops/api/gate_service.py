"""Interfaces of the gate and its approvals, audit log and reservations, for operations that act.

The caller is bound to the gate by the daemon; an operation cannot act as another caller.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from termvisor.bus import Subscription
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.hash_chain import ChainBreak, HashChainEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.undo import UndoAction
from termvisor.model.action.verdict import Verdict
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services


class GatePreview(Struct, frozen=True, kw_only=True):
    """The verdict on an action, the policy trace (``path``), and the first failed precondition."""

    verdict: Verdict
    path: tuple[str, ...]
    refused: str = ""
    """Code of the first failed precondition; empty if all hold."""
    refused_text: str = ""


class GateService(Protocol):
    async def run(self, action: Action, preconditions: Preconditions) -> Outcome:
        """Execute an action. Raises Refused, NeedsApproval, StaleSnapshot or Conflict if nothing was executed."""

    async def preview(self, action: Action, preconditions: Preconditions) -> GatePreview:
        """Return the verdict without executing, asking, counting or logging anything."""

    @property
    def actor(self) -> Actor:
        """Return the caller."""

    @property
    def approvals(self) -> "ApprovalService": ...

    @property
    def audit(self) -> "AuditService": ...

    @property
    def reservations(self) -> "ReservationService": ...


class ApprovalService(Protocol):
    """Approval requests and permits."""

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]: ...

    async def find(self, approval_id: int) -> Approval | None: ...

    async def answer(self, approval_id: int, answer: ApprovalAnswer, *, is_lasting: bool = False) -> Approval:
        """Answer a request. Raises BadRequest if it does not exist, Conflict if it is no longer open."""

    def subscribe(self) -> AbstractContextManager[Subscription[Approval]]: ...

    async def list_permits(self) -> tuple[Permit, ...]: ...

    async def revoke_permit(self, permit_id: int) -> bool: ...


class AuditService(Protocol):
    """The audit log, undo, and the policy in force."""

    async def list_chain_entries(self, after: int, limit: int = 500) -> list[HashChainEntry]:
        """Return the first entries after this id, exactly as stored: NOT redacted again."""

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Return entries, oldest first: the first ones after the id ``after``, else the newest."""

    def subscribe(self) -> AbstractContextManager[Subscription[None]]:
        """Subscribe to wake-ups: entries may have been added; read them with `list`."""

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        """Verify the hash chain; return the first break, or None. ``expected_hash`` must be part of the chain."""

    async def find_inverse(self, which: str, panes: Sequence[PaneView]) -> UndoAction:
        """Return the action that undoes one: by correlation id, or the caller's `last`. Raises NotUndoable."""

    def load_policy(self) -> tuple[Policy | None, str]:
        """Return the policy in force, and the error in its file, or ""."""


class ReservationService(Protocol):
    async def reserve(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        """Reserve a pane. Raises Conflict if another owner holds it."""

    async def release(self, reservation_id: int) -> bool: ...

    async def list(self) -> list[Reservation]: ...


class ActingServices(Services, Protocol):
    """Services of operations that change something."""

    @property
    def gate(self) -> GateService: ...
