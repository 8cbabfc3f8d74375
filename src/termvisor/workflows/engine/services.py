"""Define the services that workflow steps use: panes, detections, gate, signals, settings, sessions. The daemon
implements them."""

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
        """Return when the pane changed, or after ``seconds``."""


class PaneReader(Protocol):
    """Reads live panes; all text is redacted."""

    async def find_pane(self, pane: PaneId) -> PaneView | None:
        """Return the pane, also one that is gone; None if it is unknown."""

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        """Return the pane's current state and its last lines. Raises ``NotFound`` if it is gone."""

    async def read_lines(self, pane: PaneId, after: int) -> list[Line]:
        """Return a page of the lines after this line number."""

    def watch_pane(self, pane: PaneId) -> AbstractContextManager[PaneChanges]: ...


class DetectionFeed(Protocol):
    async def list_unhandled(self, after: int) -> Sequence[Detection]: ...

    async def list_since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        """Return the pane's detections since this time."""

    async def find_detection(self, event: EventId) -> Detection | None: ...

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> None: ...

    async def read_newest_event_id(self) -> EventId: ...

    def subscribe(self) -> AbstractContextManager[Subscription[Any]]:
        """Subscribe to a wake-up whenever there may be new detections."""


class GateAccess(Protocol):
    """The gate, its audit log and its deliveries."""

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome: ...

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str]:
        """Return the verdict and the failed precondition without executing the action."""

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        """Return the audit entries of one action."""

    async def find_delivery(self, key: str) -> DeliveryRecord | None: ...

    async def withdraw_approvals(self, correlation: str) -> None:
        """Withdraw the open approval requests whose correlation is this one or begins with it."""


class SignalFeed(Protocol):
    """The signals that people and programs send to runs."""

    async def list_signals(self, run: int) -> list[RunSignal]: ...

    def subscribe(self) -> AbstractContextManager[Subscription[RunSignal]]: ...


class PreferenceReader(Protocol):
    async def read_preferences(self, names: Sequence[str], agent: str, view: PaneView | None) -> PreferenceValues:
        """Return the user's settings. Raises ``BadRequest`` for a setting that workflows may not read."""


class RunJournal(Protocol):
    """Stores steps and signals durably before it returns."""

    async def save_step(self, run: RunId, step: RunStep) -> None:
        """Store a step before it is executed, and again with its result."""

    async def list_steps(self, run: RunId) -> list[RunStep]: ...

    async def add_signal(self, signal: RunSignal) -> RunSignal: ...

    async def list_signals(self, run: RunId) -> list[RunSignal]: ...


class RunStore(RunJournal, Protocol):
    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None: ...

    async def advance_cursor(self, cursor: EventId) -> None: ...

    async def read_cursor(self) -> EventId | None: ...

    async def save(self, run: Run) -> None: ...

    async def find(self, run: RunId) -> Run | None: ...

    async def list_open(self) -> list[Run]: ...


class ModeReader(Protocol):
    def get_mode(self, workflow: str) -> WorkflowMode:
        """Return the mode of the current settings; `off` for a workflow that is not installed."""


class SessionAccess(Protocol):
    """The stored sessions of agents."""

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        """Return the current or last session of the pane that matches the call."""

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        """Fill in missing values of an ended session; known values are not changed."""


class CodeSearcher(Protocol):
    async def search(self, names: Sequence[str], folder: str, run_program: ProgramRunner) -> CodeSearchResult:
        """Find these names in the code below a folder with ``run_program``."""


class StepServices(Struct, frozen=True, kw_only=True):
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
