"""What steps need of the product around them: eyes on a pane, the gate, the record. The daemon gives it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct

from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import Send
from termvisor.model.action.outcome import Outcome, RunIt
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Verdict
from termvisor.model.detection.detection import Detection, Handling
from termvisor.model.ids import EventId, PaneId, SessionId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow.run import Mode, Run, RunId, RunSignal, Step
from termvisor.workflows.account_failover import Failover, NoFailover
from termvisor.workflows.calls import CodeFound, Conversation, LastSession, Observation, Preferred


class Stir(Protocol):
    async def next(self, seconds: float) -> None:
        """Until there is news of the pane, or the time is over."""


class Sight(Protocol):
    """The live panes, redacted."""

    async def view(self, pane: PaneId) -> PaneView | None:
        """None where it was never known; one that is gone says so."""

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        """Raises ``NotFound`` when the pane is gone."""

    async def lines(self, pane: PaneId, after: int) -> list[Line]:
        """What was printed beyond this line number; a page of it."""

    def stir(self, pane: PaneId) -> AbstractContextManager[Stir]: ...


class Detected(Protocol):
    """What rules and agents told."""

    async def unhandled(self, after: int) -> Sequence[Detection]: ...

    async def since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        """What was detected in the pane from this time on."""

    async def one(self, event: EventId) -> Detection | None: ...

    async def handle(self, event: EventId, handling: Handling) -> None: ...

    async def newest(self) -> EventId:
        """The newest event's id."""

    def news(self) -> AbstractContextManager[Subscription[Any]]:
        """Wakes when there may be more."""


class Hands(Protocol):
    """The gate, and what is on record of what it did."""

    async def do(self, action: Action, actor: Actor, terms: Terms) -> Outcome: ...

    async def try_out(self, action: Action, actor: Actor, terms: Terms) -> tuple[Verdict, str]:
        """What would be said of it, and what in the pane speaks against it now; nothing is done."""

    async def story(self, correlation: str) -> list[AuditEntry]:
        """All that is on record of one act."""

    async def send(self, key: str) -> Send | None: ...

    async def withdraw(self, correlation: str) -> None:
        """Close what was asked under this correlation, or under one that begins with it: nobody waits any more."""


class Words(Protocol):
    """What people and programs say to runs."""

    async def said(self, run: int) -> list[RunSignal]: ...

    def news(self) -> AbstractContextManager[Subscription[RunSignal]]: ...


class Preferences(Protocol):
    """What the person has set."""

    async def of(self, names: Sequence[str], agent: str, view: PaneView | None) -> Preferred:
        """Raises ``BadRequest`` for what is no setting that workflows may read."""


class Journal(Protocol):
    """What is on disk when it returns."""

    async def put(self, run: RunId, step: Step) -> None:
        """A step that is about to be taken, or what came of it."""

    async def steps(self, run: RunId) -> list[Step]: ...

    async def say(self, signal: RunSignal) -> RunSignal: ...

    async def signals(self, run: RunId) -> list[RunSignal]: ...


class Runs(Journal, Protocol):
    """The store of runs, as the engine uses it."""

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None: ...

    async def offered(self, cursor: EventId) -> None: ...

    async def cursor(self) -> EventId | None: ...

    async def save(self, run: Run) -> None: ...

    async def one(self, run: RunId) -> Run | None: ...

    async def open(self) -> list[Run]: ...


class Modes(Protocol):
    def of(self, workflow: str) -> Mode:
        """As the settings say now; a workflow that is not installed is off."""


class Conversations(Protocol):
    """What is on record of conversations with agents."""

    async def last(self, pane: PaneId, wanted: LastSession) -> Conversation:
        """The one that goes on in a pane or ended there last, of those that are wanted."""

    async def keep(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> Conversation:
        """Fill in what is not on record of one that is over; nothing that is known is changed."""


class Code(Protocol):
    async def search(self, names: Sequence[str], folder: str, run_it: RunIt) -> CodeFound:
        """Where these names stand in the code below a folder; ``run_it`` runs the program that knows."""


class Around(Struct, frozen=True, kw_only=True):
    """All that steps need."""

    sight: Sight
    detected: Detected
    hands: Hands
    words: Words
    modes: Modes
    preferences: Preferences
    conversations: Conversations
    code: Code
    clock: Clock
    failover: Failover = NoFailover()
