"""The services that the engine and the steps use.

The daemon passes its store tables, event bus and gate. These interfaces exist because panes and the gate belong
to higher layers, and because tests use fakes (`termvisor.testing.workflow_scene`).
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.approval import Verdict
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import DeliveryRecord, Outcome, ProgramRunner
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId, SessionId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow import Run, RunId, RunSignal, RunStep, WorkflowMode
from termvisor.workflows.calls import LastSessionCall
from termvisor.workflows.results import AccountSelection, CodeSearchResult, Observation, PreferenceValues, SessionRecord

_MAX_DETECTIONS = 200
"""How many of a pane's newest detections are searched."""


class PaneChanges(Protocol):
    async def wait_for_change(self, seconds: float) -> None:
        """Return when the pane changes, or after ``seconds``."""


class PaneReader(Protocol):
    """Read access to live panes. All text is redacted."""

    async def find_pane(self, pane: PaneId) -> PaneView | None:
        """Return the pane, even if it is gone; None if it is unknown."""

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        """Return the pane's current state and its last lines. Raises ``NotFound`` if it is gone."""

    async def read_lines(self, pane: PaneId, after: int) -> list[Line]:
        """Return a page of the lines after this line number."""

    def watch_pane(self, pane: PaneId) -> AbstractContextManager[PaneChanges]: ...


class DetectionStore(Protocol):
    """The part of the detections table that workflows use."""

    async def list_unhandled(self, after: int) -> list[Detection]: ...

    async def find(self, event: EventId) -> Detection | None: ...

    async def handle(self, event: EventId, handling: DetectionHandling) -> DetectionHandling | None: ...

    async def list(self, filters: DetectionFilter) -> list[Detection]: ...


class GateAccess(Protocol):
    """The gate, its audit log and its deliveries."""

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome: ...

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str, bool]:
        """Return the verdict, the failed precondition, and whether it fails because of the text that is sent.

        Nothing is executed.
        """

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        """Return the audit entries of one action."""

    async def find_delivery(self, key: str) -> DeliveryRecord | None: ...

    async def withdraw_approvals(self, correlation: str) -> None:
        """Withdraw the open approval requests whose correlation equals or starts with this one."""


class RunStore(Protocol):
    """The table of runs. Writes are durable when they return."""

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None: ...

    async def advance_cursor(self, cursor: EventId) -> None: ...

    async def read_cursor(self) -> EventId | None: ...

    async def save(self, run: Run) -> None: ...

    async def save_step(self, run: RunId, step: RunStep) -> None:
        """Store a step before it is executed, and again with its result."""

    async def add_signal(self, signal: RunSignal) -> RunSignal: ...

    async def list_signals(self, run: RunId) -> list[RunSignal]: ...

    async def find(self, run: RunId) -> Run | None: ...

    async def list_steps(self, run: RunId) -> list[RunStep]: ...

    async def list_open(self) -> list[Run]: ...


class SessionAccess(Protocol):
    """The stored agent sessions."""

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        """Return the current or last session of the pane that matches the call."""

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        """Fill in missing values of an ended session, without changing known values."""


class WorkflowServices(Struct, frozen=True, kw_only=True):
    clock: Clock
    runs: RunStore
    signals: Bus[RunSignal]
    """Publishes each signal for a run after it was stored."""
    events: Bus[Event]
    detections: DetectionStore
    read_newest_event_id: Callable[[], Awaitable[int]]
    panes: PaneReader
    gate: GateAccess
    sessions: SessionAccess
    get_mode: Callable[[str], WorkflowMode]
    """Returns the mode of a workflow in the current settings; `off` if it is not installed."""
    read_preferences: Callable[[Sequence[str], str, PaneView | None], Awaitable[PreferenceValues]]
    """Returns settings for an agent and its pane. Raises ``BadRequest`` for a setting that workflows may not read."""
    search_code: Callable[[Sequence[str], str, ProgramRunner], Awaitable[CodeSearchResult]]
    """Finds names in the code below a folder."""
    select_account: Callable[[PaneId | None, str, str], Awaitable[AccountSelection]]
    """Selects an account for a pane's agent and a service. An empty selection contains the reason."""

    async def list_recent_detections(self, pane: PaneId, since: int) -> Sequence[Detection]:
        """Return the pane's detections since this time, oldest first."""
        return await self.detections.list(DetectionFilter(pane=pane, since=since, limit=_MAX_DETECTIONS))
