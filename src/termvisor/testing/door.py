"""A Door in memory for tests of operations: it keeps what was wanted, and answers what the test says."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS, Clock
from termvisor.errors import BadRequest, Conflict, VisorError
from termvisor.model.action import Action, Actor, SendText
from termvisor.model.approval import Approval, ApprovalAnswer, Permit, Reservation
from termvisor.model.audit import AuditEntry, BrokenChain
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome
from termvisor.model.policy import Policy
from termvisor.model.terms import Terms
from termvisor.model.verdict import Reason, strictest
from termvisor.ops.door import Foreseen

ME = Actor(kind="human", uid=1000, pid=4200)


class MemoryInbox:
    def __init__(self) -> None:
        self.approvals: list[Approval] = []
        self.given: list[Permit] = []
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
        answered = replace(known, state="allowed" if answer == "allow" else "denied")
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

    async def list(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        kind: str | None = None,
        since: int | None = None,
        limit: int = 20,
    ) -> list[AuditEntry]:
        found = [one for one in self.entries if one.id > (after or 0) and pane in (None, one.pane)]
        found = [one for one in found if kind in (None, one.kind) and one.at >= (since or 0)]
        return found[:limit] if after is not None else found[-limit:]

    async def verify(self) -> BrokenChain | None:
        return self.broken

    def policy(self) -> tuple[Policy | None, str]:
        return self.rules, self.trouble


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
    """``done`` is what was wanted; ``outcome`` is answered, or ``error`` raised."""

    def __init__(self, clock: Clock, actor: Actor = ME):
        self.actor = actor
        self.inbox, self.ledger, self.reservations = MemoryInbox(), MemoryLedger(), MemoryReservations(clock)
        self.done: list[tuple[Action, Terms]] = []
        self.outcome = Outcome(status="done")
        self.sent: Outcome | None = None
        """What comes of a text, where that is something else."""
        self.error: VisorError | None = None

    async def do(self, action: Action, terms: Terms) -> Outcome:
        self.done.append((action, terms))
        if self.error is not None:
            raise self.error
        return self.sent if self.sent and isinstance(action, SendText) else self.outcome

    async def foresee(self, action: Action, terms: Terms) -> Foreseen:
        verdict = strictest((Reason(source="default", id="human.input", answer="allow"),))
        return Foreseen(verdict=verdict, path=("send_text by human", "allow"))
