"""The one door, as operations see it: they say what is wanted, the door judges, asks, records, does and verifies.

Whoever calls is known to the door already; no operation can say that it is somebody else.
"""

from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from termvisor.bus import Subscription
from termvisor.model.action import Action, Actor
from termvisor.model.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.audit import AuditEntry, BrokenChain
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome
from termvisor.model.policy import Policy
from termvisor.model.terms import Terms
from termvisor.model.verdict import Verdict
from termvisor.ops.world import World


class Foreseen(Struct, frozen=True, kw_only=True):
    """What would be said of an action: the verdict, the way to it, and what speaks against it in the pane itself."""

    verdict: Verdict
    path: tuple[str, ...]
    refused: str = ""
    """The code of the first reason why the pane would not be acted on now."""
    refused_text: str = ""


class Door(Protocol):
    async def do(self, action: Action, terms: Terms) -> Outcome:
        """Raises ``Refused``, ``NeedsApproval``, ``StaleSnapshot`` or ``Conflict`` when nothing was done."""

    async def foresee(self, action: Action, terms: Terms) -> Foreseen:
        """Nothing is done, asked, counted or recorded."""

    @property
    def actor(self) -> Actor:
        """Who calls."""

    @property
    def inbox(self) -> "Inbox": ...

    @property
    def ledger(self) -> "Ledger": ...

    @property
    def reservations(self) -> "Reservations": ...


class Inbox(Protocol):
    """Questions to people."""

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]: ...

    async def one(self, number: int) -> Approval | None: ...

    async def answer(self, number: int, answer: ApprovalAnswer, *, lasting: bool = False) -> Approval:
        """Raises ``BadRequest`` for no such question, ``Conflict`` for one that is no longer open."""

    def news(self) -> AbstractContextManager[Subscription[Approval]]: ...

    async def permits(self) -> tuple[Permit, ...]: ...

    async def revoke(self, number: int) -> bool: ...


class Ledger(Protocol):
    """What is on record, and by which rules."""

    async def list(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        kind: str | None = None,
        since: int | None = None,
        limit: int = 20,
    ) -> list[AuditEntry]: ...

    async def verify(self) -> BrokenChain | None: ...

    def policy(self) -> tuple[Policy | None, str]:
        """The policy in force, and what is wrong with its file if something is."""


class Reservations(Protocol):
    async def hold(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        """Raises ``Conflict`` when somebody else holds it."""

    async def release(self, number: int) -> bool: ...

    async def list(self) -> list[Reservation]: ...


class ActingWorld(World, Protocol):
    """What operations see that change something."""

    @property
    def door(self) -> Door: ...
