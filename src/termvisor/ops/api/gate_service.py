"""The one door, as operations see it: they say what is wanted, the door judges, asks, records, does and verifies.

Whoever calls is known to the door already; no operation can say that it is somebody else.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from termvisor.bus import Subscription
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter, ChainBreak
from termvisor.model.action.hash_chain import HashChainEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.undo import UndoAction
from termvisor.model.action.verdict import Verdict
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services


class GatePreview(Struct, frozen=True, kw_only=True):
    """What would be said of an action: the verdict, the way to it, and what speaks against it in the pane itself."""

    verdict: Verdict
    path: tuple[str, ...]
    refused: str = ""
    """The code of the first reason why the pane would not be acted on now."""
    refused_text: str = ""


class GateService(Protocol):
    async def run(self, action: Action, preconditions: Preconditions) -> Outcome:
        """Raises ``Refused``, ``NeedsApproval``, ``StaleSnapshot`` or ``Conflict`` when nothing was done."""

    async def preview(self, action: Action, preconditions: Preconditions) -> GatePreview:
        """Nothing is done, asked, counted or recorded."""

    @property
    def actor(self) -> Actor:
        """Who calls."""

    @property
    def approvals(self) -> "ApprovalService": ...

    @property
    def audit(self) -> "AuditService": ...

    @property
    def reservations(self) -> "ReservationService": ...


class ApprovalService(Protocol):
    """Questions to people."""

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]: ...

    async def find(self, approval_id: int) -> Approval | None: ...

    async def answer(self, approval_id: int, answer: ApprovalAnswer, *, is_lasting: bool = False) -> Approval:
        """Raises ``BadRequest`` for no such question, ``Conflict`` for one that is no longer open."""

    def subscribe(self) -> AbstractContextManager[Subscription[Approval]]: ...

    async def list_permits(self) -> tuple[Permit, ...]: ...

    async def revoke_permit(self, permit_id: int) -> bool: ...


class AuditService(Protocol):
    """What is on record, and by which rules."""

    async def list_chain_entries(self, after: int, limit: int = 500) -> list[HashChainEntry]:
        """The first entries beyond this id, as they are kept: NOT redacted again."""

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Oldest first: with ``after`` the first ones beyond that id, else the newest."""

    def subscribe(self) -> AbstractContextManager[Subscription[None]]:
        """Wakes when something may have been added; what it is, is read from the record."""

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        """What is wrong with the record, if something is; ``kept`` is a hash that must be in it."""

    async def find_inverse(self, which: str, panes: Sequence[PaneView]) -> UndoAction:
        """What takes an action back: the one of that correlation, or the caller's `last`. Raises ``NoInverse``."""

    def load_policy(self) -> tuple[Policy | None, str]:
        """The policy in force, and what is wrong with its file if something is."""


class ReservationService(Protocol):
    async def reserve(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        """Raises ``Conflict`` when somebody else holds it."""

    async def release(self, reservation_id: int) -> bool: ...

    async def list(self) -> list[Reservation]: ...


class ActingServices(Services, Protocol):
    """What operations see that change something."""

    @property
    def gate(self) -> GateService: ...
