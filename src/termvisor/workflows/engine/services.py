"""What steps need of the product around them: eyes on a pane, the gate, the record. The daemon gives it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct

from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import DeliveryRecord
from termvisor.model.action.outcome import Outcome, ProgramRunner
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import Verdict
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.model.ids import EventId, PaneId, SessionId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow.run import Run, RunId, RunSignal, RunStep, WorkflowMode
from termvisor.workflows.account_failover import AccountSelector, NoAccountSelector
from termvisor.workflows.calls import CodeSearchResult, LastSessionCall, Observation, PreferenceValues, SessionRecord


class PaneChanges(Protocol):
    async def wait_for_change(self, seconds: float) -> None:
        """Until there is news of the pane, or the time is over."""


class PaneReader(Protocol):
    """The live panes, redacted."""

    async def find_pane(self, pane: PaneId) -> PaneView | None:
        """None where it was never known; one that is gone says so."""

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        """Raises ``NotFound`` when the pane is gone."""

    async def read_lines(self, pane: PaneId, after: int) -> list[Line]:
        """What was printed beyond this line number; a page of it."""

    def watch_pane(self, pane: PaneId) -> AbstractContextManager[PaneChanges]: ...


class DetectionFeed(Protocol):
    """What rules and agents told."""

    async def list_unhandled(self, after: int) -> Sequence[Detection]: ...

    async def list_since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        """What was detected in the pane from this time on."""

    async def find_detection(self, event: EventId) -> Detection | None: ...

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> None: ...

    async def read_newest_event_id(self) -> EventId:
        """The newest event's id."""

    def subscribe(self) -> AbstractContextManager[Subscription[Any]]:
        """Wakes when there may be more."""


class GateAccess(Protocol):
    """The gate, and what is on record of what it did."""

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome: ...

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str]:
        """What would be said of it, and what in the pane speaks against it now; nothing is done."""

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        """All that is on record of one act."""

    async def find_delivery(self, key: str) -> DeliveryRecord | None: ...

    async def withdraw_approvals(self, correlation: str) -> None:
        """Close what was asked under this correlation, or under one that begins with it: nobody waits any more."""


class SignalFeed(Protocol):
    """What people and programs say to runs."""

    async def list_signals(self, run: int) -> list[RunSignal]: ...

    def subscribe(self) -> AbstractContextManager[Subscription[RunSignal]]: ...


class PreferenceReader(Protocol):
    """What the person has set."""

    async def read_preferences(self, names: Sequence[str], agent: str, view: PaneView | None) -> PreferenceValues:
        """Raises ``BadRequest`` for what is no setting that workflows may read."""


class RunJournal(Protocol):
    """What is on disk when it returns."""

    async def save_step(self, run: RunId, step: RunStep) -> None:
        """A step that is about to be taken, or what came of it."""

    async def list_steps(self, run: RunId) -> list[RunStep]: ...

    async def add_signal(self, signal: RunSignal) -> RunSignal: ...

    async def list_signals(self, run: RunId) -> list[RunSignal]: ...


class RunStore(RunJournal, Protocol):
    """The store of runs, as the engine uses it."""

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None: ...

    async def advance_cursor(self, cursor: EventId) -> None: ...

    async def read_cursor(self) -> EventId | None: ...

    async def save(self, run: Run) -> None: ...

    async def find(self, run: RunId) -> Run | None: ...

    async def list_open(self) -> list[Run]: ...


class ModeReader(Protocol):
    def get_mode(self, workflow: str) -> WorkflowMode:
        """As the settings say now; a workflow that is not installed is off."""


class SessionAccess(Protocol):
    """What is on record of conversations with agents."""

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        """The one that goes on in a pane or ended there last, of those that are wanted."""

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        """Fill in what is not on record of one that is over; nothing that is known is changed."""


class CodeSearcher(Protocol):
    async def search(self, names: Sequence[str], folder: str, run_program: ProgramRunner) -> CodeSearchResult:
        """Where these names stand in the code below a folder; ``run_it`` runs the program that knows."""


class StepServices(Struct, frozen=True, kw_only=True):
    """All that steps need."""

    panes: PaneReader
    detections: DetectionFeed
    gate: GateAccess
    signals: SignalFeed
    modes: ModeReader
    preferences: PreferenceReader
    sessions: SessionAccess
    code_search: CodeSearcher
    clock: Clock
    account_selector: AccountSelector = NoAccountSelector()
