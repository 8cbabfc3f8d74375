"""Fakes for tests of workflows: a pane, a gate, a run store and a daemon that can crash at any write.

A crash of the daemon is simulated by a run store that stops: nothing after that is stored or executed. The gate and its
audit entries survive, as in tmux and on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.errors import NotFound, VisorError
from termvisor.model.action.action import Action, Actor, get_action_kind
from termvisor.model.action.approval import Approval
from termvisor.model.action.audit import AuditEntry, AuditStage
from termvisor.model.action.delivery import DeliveryRecord
from termvisor.model.action.outcome import Outcome, ProgramRunner
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import Verdict, VerdictReason, combine_reasons
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId, PaneId, SessionId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunSignal, RunStep, WorkflowMode
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.workflows.account_failover import AccountSelector, NoAccountSelector
from termvisor.workflows.calls import CodeSearchResult, LastSessionCall, Observation, PreferenceValues, SessionRecord
from termvisor.workflows.engine.engine import WorkflowEngine
from termvisor.workflows.engine.services import PaneChanges, RunStore, StepServices
from termvisor.workflows.registry import WorkflowRegistry
from termvisor.workflows.workflow import Workflow


class CrashingRunStore:
    """A run store whose daemon dies right before or after its nth write; later calls never return."""

    def __init__(self, runs: RunStore, crash_at_write: int | None = None, *, crash_after_write: bool = False):
        self._runs, self._crash_at_write, self._crash_after_write = runs, crash_at_write, crash_after_write
        self.write_count = 0
        self.pending_calls = 0
        """Calls that have not returned: a real store takes real time, whatever the fake clock shows."""
        self.death_event = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._runs, name)
        is_write = name in ("add", "advance_cursor", "save", "save_step")
        return self._wrap_call(self._wrap_write(method) if is_write else method)

    def _wrap_call(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            self.pending_calls += 1
            try:
                return await method(*args)
            finally:
                self.pending_calls -= 1

        return call

    def _wrap_write(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def write(*args: Any) -> Any:
            self.write_count += 1
            is_last = self.write_count == self._crash_at_write
            if self.death_event.is_set() or (is_last and not self._crash_after_write):
                await self.die()
            result = await method(*args)
            if is_last:
                await self.die()
            return result

        return write

    async def die(self) -> None:
        self.death_event.set()
        await asyncio.Event().wait()


class FakeRunStore:
    """The workflow run table, in dicts and lists."""

    def __init__(self) -> None:
        self.stored_runs: dict[RunId, Run] = {}
        self.steps_by_run: dict[RunId, dict[int, RunStep]] = {}
        self.stored_signals: list[RunSignal] = []
        self.event_cursor: EventId | None = None

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None:
        is_known = run.event is not None and any(
            (stored.workflow, stored.event) == (run.workflow, run.event) for stored in self.stored_runs.values()
        )
        self.event_cursor = cursor if cursor is not None else self.event_cursor
        if is_known:
            return None
        added = replace(run, id=RunId(len(self.stored_runs) + 1))
        self.stored_runs[added.id] = added
        return added

    async def advance_cursor(self, cursor: EventId) -> None:
        self.event_cursor = cursor

    async def read_cursor(self) -> EventId | None:
        return self.event_cursor

    async def save(self, run: Run) -> None:
        if self.stored_runs[run.id].ended_at is None:
            self.stored_runs[run.id] = run

    async def save_step(self, run: RunId, step: RunStep) -> None:
        self.steps_by_run.setdefault(run, {})[step.number] = step

    async def add_signal(self, signal: RunSignal) -> RunSignal:
        stored = replace(signal, id=len(self.stored_signals) + 1)
        self.stored_signals.append(stored)
        return stored

    async def list_signals(self, run: RunId) -> list[RunSignal]:
        return [signal for signal in self.stored_signals if signal.run == run]

    async def find(self, run: RunId) -> Run | None:
        return self.stored_runs.get(run)

    async def list_steps(self, run: RunId) -> list[RunStep]:
        return [step for _, step in sorted(self.steps_by_run.get(run, {}).items())]

    async def list_open(self) -> list[Run]:
        return [run for run in self.stored_runs.values() if run.ended_at is None]

    async def list(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        runs = [run for run in self.stored_runs.values() if filters.workflow in (None, run.workflow)]
        runs = [run for run in runs if filters.pane in (None, run.pane) and run.at >= (filters.since or 0)]
        return [run for run in runs if not filters.statuses or run.status in filters.statuses][-limit:]


class FakePaneObserver:
    """Observations of panes, set by `change_pane` and filled with the lines of the fake services."""

    def __init__(self, services: FakeServices):
        self._services = services
        self.observations: dict[PaneId, Observation] = {}
        self.change_bus: Bus[PaneId] = Bus()

    def change_pane(self, pane: PaneId, **facts: object) -> None:
        """Change fields of a pane's observation and wake the waiters."""
        observation = self.observations.get(pane) or Observation(at=0, pane=pane)
        self.observations[pane] = replace(observation, **facts)
        self.change_bus.publish(pane)

    async def find_pane(self, pane: PaneId) -> PaneView | None:
        return await self._services.panes.find_pane(pane)

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        view = await self._services.panes.find_pane(pane)
        if view is None or view.gone_at is not None:
            raise NotFound(f"pane {pane} no longer exists")
        last_lines = await self._services.history.list_lines(pane, limit=lines) if lines else []
        now, last_output_at = self._services.clock.now(), view.last_output_at
        observation = self.observations.get(pane) or Observation(at=now, pane=pane)
        quiet_for = None if last_output_at is None else (now - last_output_at) / 1e9
        texts = tuple(line.text for line in last_lines)
        return replace(observation, at=now, line=view.lines, lines=texts, quiet_for=quiet_for)

    async def read_lines(self, pane: PaneId, after: int) -> list[Line]:
        return await self._services.history.list_lines(pane, after=after, limit=100)

    @contextmanager
    def watch_pane(self, pane: PaneId) -> Iterator[PaneChanges]:
        with self.change_bus.subscribe() as changes, self._services.updates.subscribe_output() as output:
            yield _FakePaneChangeWaiter(self._services.clock, (changes, output))


class _FakePaneChangeWaiter:
    def __init__(self, clock: FakeClock, sources: Sequence[Subscription[PaneId]]):
        self._clock, self._sources = clock, sources

    async def wait_for_change(self, seconds: float) -> None:
        async with asyncio.TaskGroup() as group:
            tasks: list[asyncio.Task[Any]] = [group.create_task(source.get()) for source in self._sources]
            tasks.append(group.create_task(self._clock.sleep(seconds)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()


class FakeWorkflowDetections:
    def __init__(self) -> None:
        self.stored_detections: list[Detection] = []
        self.handling_by_event: dict[EventId, DetectionHandling] = {}
        self.bus: Bus[object] = Bus()

    def add_detection(self, detection: Detection) -> Detection:
        stored = replace(detection, event=EventId(len(self.stored_detections) + 1))
        self.stored_detections.append(stored)
        self.bus.publish(stored)
        return stored

    async def list_unhandled(self, after: int) -> Sequence[Detection]:
        handled = self.handling_by_event
        return [item for item in self.stored_detections if item.event > after and item.event not in handled]

    async def list_since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        return [item for item in self.stored_detections if item.pane == pane and item.at >= at]

    async def find_detection(self, event: EventId) -> Detection | None:
        return next((item for item in self.stored_detections if item.event == event), None)

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> None:
        self.handling_by_event.setdefault(event, handling)

    async def read_newest_event_id(self) -> EventId:
        return EventId(len(self.stored_detections))

    def subscribe(self) -> AbstractContextManager[Subscription[object]]:
        return self.bus.subscribe()


class FakeWorkflowGate:
    """A gate with an audit log; ``executed`` are the actions run, ``errors`` are raised by the next calls."""

    def __init__(self, clock: FakeClock):
        self._clock = clock
        self.executed: list[Action] = []
        self.received_preconditions: list[Preconditions] = []
        self.errors: list[VisorError] = []
        self.outcome = Outcome(status="delivered")
        self.after_action: Callable[[Action], None] = lambda _action: None
        self.audit_entries: list[AuditEntry] = []
        self.sends_by_key: dict[str, DeliveryRecord] = {}
        self.withdrawn_correlations: list[str] = []
        self.crashes_at: Callable[[str], bool] = lambda _stage: False
        """Return True to crash the daemon at this stage of an action: `intent`, `deed`, `outcome`."""
        self.hangs = False

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome:
        self.received_preconditions.append(preconditions)
        if self.hangs:
            await asyncio.Event().wait()
        if self.errors:
            raise self.errors.pop(0)
        await self._record_stage("intent", action, actor, preconditions)
        self.executed.append(action)
        self.after_action(action)
        await self._record_stage("deed", action, actor, preconditions)
        await self._record_stage("outcome", action, actor, preconditions)
        return replace(self.outcome, correlation=preconditions.correlation)

    async def _record_stage(self, stage: str, action: Action, actor: Actor, preconditions: Preconditions) -> None:
        """Append the audit entry of a stage, then crash if the test says so."""
        stages: dict[str, AuditStage] = {"intent": "intent", "outcome": "outcome"}
        if stage in stages:
            entry = AuditEntry(
                at=self._clock.now(),
                correlation=preconditions.correlation,
                stage=stages[stage],
                kind=get_action_kind(action),
                actor=actor,
                outcome=self.outcome.status if stage == "outcome" else "",
            )
            self.audit_entries.append(entry)
        if self.crashes_at(stage):
            await asyncio.Event().wait()

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str]:
        return combine_reasons((VerdictReason(source="default", id="others.input", answer="ask"),)), ""

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        return [entry for entry in self.audit_entries if entry.correlation == correlation]

    async def find_delivery(self, key: str) -> DeliveryRecord | None:
        return self.sends_by_key.get(key)

    async def withdraw_approvals(self, correlation: str) -> None:
        self.withdrawn_correlations.append(correlation)


class FakeRunSignalFeed:
    def __init__(self, runs: RunStore, bus: Bus[RunSignal]):
        self._runs, self._bus = runs, bus

    async def list_signals(self, run: int) -> list[RunSignal]:
        return await self._runs.list_signals(RunId(run))

    def subscribe(self) -> AbstractContextManager[Subscription[RunSignal]]:
        return self._bus.subscribe()


class FakeWorkflowModes:
    def __init__(self) -> None:
        self.modes: dict[str, WorkflowMode] = {}

    def get_mode(self, workflow: str) -> WorkflowMode:
        return self.modes.get(workflow, "on")


class FakeWorkflowPreferences:
    """Preferences set by the test; switches are on by default."""

    def __init__(self) -> None:
        self.stored_preferences = PreferenceValues(
            values={"pause_on_limit": True, "auto_resume": True, "continue_prompt": "proceed."}
        )

    def set_values(self, **values: Scalar) -> None:
        self.stored_preferences = replace(self.stored_preferences, values={**self.stored_preferences.values, **values})

    async def read_preferences(self, names: Sequence[str], agent: str, view: PaneView | None) -> PreferenceValues:
        return self.stored_preferences


class FakeWorkflowSessions:
    """``stored_sessions`` are the sessions of the pane, the newest last."""

    def __init__(self) -> None:
        self.stored_sessions: list[SessionRecord] = []

    async def find_last_session(self, pane: PaneId, call: LastSessionCall) -> SessionRecord:
        matches = [item for item in self.stored_sessions if call.runtime in (None, item.runtime)]
        matches = [item for item in matches if call.session in ("", item.session)]
        return matches[-1] if matches else SessionRecord()

    async def update_session(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> SessionRecord:
        index = next(index for index, item in enumerate(self.stored_sessions) if item.id == session)
        stored = self.stored_sessions[index]
        updated = replace(stored, session=stored.session or external_id, tokens={**tokens, **stored.tokens})
        self.stored_sessions[index] = updated
        return updated


class FakeCodeSearch:
    def __init__(self) -> None:
        self.result = CodeSearchResult()
        self.requested_names: list[tuple[str, ...]] = []

    async def search(self, names: Sequence[str], folder: str, run_program: ProgramRunner) -> CodeSearchResult:
        self.requested_names.append(tuple(names))
        return self.result


class WorkflowScene:
    """Fake services with one pane, on which several daemons can run one after the other."""

    def __init__(self, *workflows: Workflow):
        self.services = FakeServices()
        self.clock = self.services.clock
        self.pane = self.services.add_pane(build_shell_facts()).id
        self.runs = FakeRunStore()
        self.pane_observer, self.detections = FakePaneObserver(self.services), FakeWorkflowDetections()
        self.gate, self.modes = FakeWorkflowGate(self.clock), FakeWorkflowModes()
        self.preferences = FakeWorkflowPreferences()
        self.failover: AccountSelector = NoAccountSelector()
        self.sessions, self.code_search = FakeWorkflowSessions(), FakeCodeSearch()
        self.registry = WorkflowRegistry("/nowhere", workflows)
        self.approval_bus: Bus[Approval] = Bus()
        self.events: Bus[Event] = Bus()
        self.max_concurrent = 3

    def build_engine(self, runs: RunStore | None = None) -> WorkflowEngine:
        """Build the engine of a new daemon on the same panes, gate and run store."""
        run_store = runs or self.runs
        signals: Bus[RunSignal] = Bus()
        step_services = StepServices(
            panes=self.pane_observer,
            detections=self.detections,
            gate=self.gate,
            signals=FakeRunSignalFeed(run_store, signals),
            modes=self.modes,
            preferences=self.preferences,
            account_selector=self.failover,
            sessions=self.sessions,
            code_search=self.code_search,
            clock=self.clock,
        )
        return WorkflowEngine(
            runs=run_store,
            services=step_services,
            registry=self.registry,
            clock=self.clock,
            signals=signals,
            approvals=self.approval_bus,
            events=self.events,
            get_max_concurrent=lambda: self.max_concurrent,
        )

    def add_detection(self, type_: str = "session.compaction", **more: object) -> Detection:
        """Simulate a detection in the pane."""
        detection = Detection(
            at=self.clock.now(),
            type=type_,
            rule="claude.compaction",
            pane=self.pane,
            source="stream",
            context="compacted",
        )
        return self.detections.add_detection(replace(detection, **more))
