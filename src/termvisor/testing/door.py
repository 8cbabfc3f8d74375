"""A Door in memory for tests of operations: it keeps what was wanted, and answers what the test says."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS, Clock
from termvisor.errors import BadRequest, Conflict, NoInverse, VisorError
from termvisor.model.action.action import Action, Actor, SendText
from termvisor.model.action.approval import Approval, ApprovalAnswer, ApprovalState, Permit, Reservation
from termvisor.model.action.audit import AuditEntry, AuditFilter, BrokenChain
from termvisor.model.action.hash_chain import Link, hash_of
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.policy import Policy
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.undo import Inverse
from termvisor.model.action.verdict import Reason, strictest
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import Foreseen

_STATES: dict[ApprovalAnswer, ApprovalState] = {"allow": "allowed", "deny": "denied", "edit": "edited"}
ME = Actor(kind="human", uid=1000, pid=4200)


class MemoryInbox:
    def __init__(self) -> None:
        self.approvals: list[Approval] = []
        self.given: list[Permit] = []
        self.lasting: list[int] = []
        """The questions that were answered for longer than once."""
        self._news: Bus[Approval] = Bus()

    async def list(self, *, is_open: bool = True, limit: int = 50) -> list[Approval]:
        return [one for one in self.approvals if not is_open or one.state == "open"][-limit:]

    async def one(self, number: int) -> Approval | None:
        return next((one for one in self.approvals if one.id == number), None)

    async def answer(self, number: int, answer: ApprovalAnswer, *, lasting: bool = False) -> Approval:
        known = await self.one(number)
        if known is None:
            raise BadRequest(f"there is no question {number}")
        if known.state != "open":
            raise Conflict(f"question {number} is {known.state}")
        self.lasting += [number] if lasting else []
        answered = replace(known, state=_STATES[answer])
        self.approvals[self.approvals.index(known)] = answered
        self._news.publish(answered)
        return answered

    def news(self) -> AbstractContextManager[Subscription[Approval]]:
        return self._listening()

    @contextmanager
    def _listening(self) -> Iterator[Subscription[Approval]]:
        with self._news.subscribe() as news:
            yield news

    def ask(self, approval: Approval) -> Approval:
        """Somebody asks."""
        asked = replace(approval, id=len(self.approvals) + 1)
        self.approvals.append(asked)
        self._news.publish(asked)
        return asked

    async def permits(self) -> tuple[Permit, ...]:
        return tuple(self.given)

    async def revoke(self, number: int) -> bool:
        before = len(self.given)
        self.given = [one for one in self.given if one.id != number]
        return len(self.given) < before


class MemoryLedger:
    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []
        self.broken: BrokenChain | None = None
        self.rules: Policy | None = Policy()
        self.trouble = ""
        self.taken_back: Inverse | None = None
        """What would take back whatever is asked for."""
        self._news: Bus[None] = Bus()

    def record(self, entry: AuditEntry) -> None:
        """Something is put on record."""
        previous = self.entries[-1].hash if self.entries else ""
        digest = hash_of(previous, _text(entry))
        self.entries.append(replace(entry, id=len(self.entries) + 1, previous=previous, hash=digest))
        self._news.publish(None)

    async def links(self, after: int, limit: int = 500) -> list[Link]:
        found = [one for one in self.entries if one.id > after][:limit]
        return [Link(id=one.id, previous=one.previous, hash=one.hash, entry=_text(one)) for one in found]

    async def list(
        self, *, after: int | None = None, only: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        found = [one for one in self.entries if one.id > (after or 0) and _fits(one, only or AuditFilter())]
        return found[:limit] if after is not None else found[-limit:]

    def news(self) -> AbstractContextManager[Subscription[None]]:
        return self._news.subscribe()

    async def verify(self, kept: str = "") -> BrokenChain | None:
        return self.broken

    async def inverse(self, which: str, panes: Sequence[PaneView]) -> Inverse:
        if self.taken_back is None:
            raise NoInverse(f"{which} has no inverse")
        return self.taken_back

    def policy(self) -> tuple[Policy | None, str]:
        return self.rules, self.trouble


def _text(entry: AuditEntry) -> str:
    return msgspec.json.encode(replace(entry, id=0, previous="", hash="")).decode()


def _fits(entry: AuditEntry, only: AuditFilter) -> bool:
    same = ("pane", "kind", "outcome", "correlation", "undoes")
    return (
        all(getattr(only, name) in (None, getattr(entry, name)) for name in same)
        and only.actor in (None, entry.actor.kind, entry.actor.name)
        and (only.since or 0) <= entry.at <= (entry.at if only.until is None else only.until)
    )


class MemoryReservations:
    def __init__(self, clock: Clock):
        self._clock = clock
        self.held: list[Reservation] = []

    async def hold(self, pane: PaneId, owner: str, seconds: float) -> Reservation:
        taken = next((one for one in self.held if one.pane == pane), None)
        if taken is not None and taken.owner != owner:
            raise Conflict(f"pane {pane} is reserved by {taken.owner}")
        now = self._clock.now()
        one = Reservation(id=len(self.held) + 1, pane=pane, owner=owner, at=now, expires_at=now + int(seconds * NS))
        self.held.append(one)
        return one

    async def release(self, number: int) -> bool:
        before = len(self.held)
        self.held = [one for one in self.held if one.id != number]
        return len(self.held) < before

    async def list(self) -> list[Reservation]:
        return self.held


class MemoryDoor:
    """``done`` is what was wanted; ``outcome`` is answered, or ``error`` raised; ``foreseen`` is what would be said."""

    def __init__(self, clock: Clock, actor: Actor = ME):
        self.actor = actor
        self.inbox, self.ledger, self.reservations = MemoryInbox(), MemoryLedger(), MemoryReservations(clock)
        self.done: list[tuple[Action, Terms]] = []
        self.outcome = Outcome(status="done")
        self.sent: Outcome | None = None
        """What comes of a text, where that is something else."""
        self.error: VisorError | None = None
        verdict = strictest((Reason(source="default", id="human.input", answer="allow"),))
        self.foreseen = Foreseen(verdict=verdict, path=("send_text by human", "allow"))

    async def do(self, action: Action, terms: Terms) -> Outcome:
        self.done.append((action, terms))
        if self.error is not None:
            raise self.error
        return self.sent if self.sent and isinstance(action, SendText) else self.outcome

    async def foresee(self, action: Action, terms: Terms) -> Foreseen:
        return self.foreseen
