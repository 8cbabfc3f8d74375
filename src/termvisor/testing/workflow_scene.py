"""Fakes for workflow tests: a pane, a gate, a run store and a daemon that can crash at any write.

A daemon crash is simulated by a run store that stops: nothing is stored or executed after that. The gate and its
audit entries survive, as tmux and the disk do in a real crash.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.errors import NotFound, VisorError
from termvisor.model.action.action import Action, Actor, get_action_kind
from termvisor.model.action.approval import Approval, Verdict, VerdictReason, combine_reasons
from termvisor.model.action.audit import AuditEntry, AuditStage
from termvisor.model.action.outcome import DeliveryRecord, Outcome, ProgramRunner
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId, PaneId, SessionId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow import Run, RunFilter, RunId, RunStep, WorkflowMode
from termvisor.store import Store
from termvisor.store.tables.detections import DetectionTable
from termvisor.store.tables.workflow_runs import WorkflowRunTable
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.memory_store import run_now
from termvisor.workflows.calls import LastSessionCall
from termvisor.workflows.engine.engine import WorkflowEngine
from termvisor.workflows.engine.services import PaneChanges, RunStore, WorkflowServices
from termvisor.workflows.registry import WorkflowRegistry
from termvisor.workflows.results import AccountSelection, CodeSearchResult, Observation, PreferenceValues, SessionRecord
from termvisor.workflows.workflow import Workflow


class CrashingRunStore:
    """A run store whose daemon dies right before or after its nth write; later calls never return."""

    def __init__(self, runs: RunStore, crash_at_write: int | None = None, *, crash_after_write: bool = False):
        self._runs, self._crash_at_write, self._crash_after_write = runs, crash_at_write, crash_after_write
        self.write_count = 0
        self.pending_calls = 0
        """The number of unfinished calls. A real store takes real time, even while the fake clock stands still."""
        self.death_event = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._runs, name)
        # Only writes affect what a new daemon finds, so reads pass through unchanged.
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
        # Never returns, like a call in a dead process. The test cancels the task.
        await asyncio.Event().wait()


class FakeRunStore(WorkflowRunTable):
    """The workflow runs in a memory store, readable even without an event loop."""

    def __init__(self, store: Store):
        super().__init__(store._db)

    @property
    def stored_runs(self) -> dict[RunId, Run]:
        return {run.id: run for run in run_now(self.list(RunFilter(), limit=1000))}

    @property
    def steps_by_run(self) -> dict[RunId, dict[int, RunStep]]:
        """The steps of each run that has steps."""
        steps = {run: {step.number: step for step in run_now(self.list_steps(run))} for run in self.stored_runs}
        return {run: steps_of_run for run, steps_of_run in steps.items() if steps_of_run}


class FakePaneObserver:
    """Pane observations set by `change_pane`, with the lines of the fake services."""

    def __init__(self, services: FakeServices):
        self._services = services
        self.observations: dict[PaneId, Observation] = {}
        self.change_bus: Bus[PaneId] = Bus()

    def change_pane(self, pane: PaneId, **facts: object) -> None:
        """Change fields of a pane's observation and wake waiting tasks."""
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
            # As in the daemon, return on a changed state, new output or the end of the wait, whichever comes first.
            tasks: list[asyncio.Task[Any]] = [group.create_task(source.get()) for source in self._sources]
            tasks.append(group.create_task(self._clock.sleep(seconds)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()


class FakeWorkflowDetections(DetectionTable):
    """The detections of the fake services, readable even without an event loop."""

    def __init__(self, services: FakeServices):
        super().__init__(services.store._db)

    @property
    def handling_by_event(self) -> dict[EventId, DetectionHandling]:
        detections = run_now(self.list(DetectionFilter(limit=1000)))
        return {item.event: item.handling for item in detections if item.handling is not None}


class FakeWorkflowGate:
    """A gate with an audit log. ``executed`` lists the actions run; the next calls raise ``errors``."""

    def __init__(self, clock: FakeClock):
        self._clock = clock
        self.executed: list[Action] = []
        self.received_preconditions: list[Preconditions] = []
        self.errors: list[VisorError] = []
        self.outcome = Outcome(status="delivered")
        self.previewed = ("", False)
        """The failed precondition of a preview, and whether it is due to the text."""
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
        """Append the audit entry of a stage, then crash if the test requests it."""
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
        # A process that dies here has written the entry but does nothing more.
        if self.crashes_at(stage):
            await asyncio.Event().wait()

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str, bool]:
        return combine_reasons((VerdictReason(source="default", id="others.input", answer="ask"),)), *self.previewed

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        return [entry for entry in self.audit_entries if entry.correlation == correlation]

    async def find_delivery(self, key: str) -> DeliveryRecord | None:
        return self.sends_by_key.get(key)

    async def withdraw_approvals(self, correlation: str) -> None:
        self.withdrawn_correlations.append(correlation)


class FakeWorkflowModes:
    def __init__(self) -> None:
        self.modes: dict[str, WorkflowMode] = {}

    def get_mode(self, workflow: str) -> WorkflowMode:
        return self.modes.get(workflow, "on")


class FakeWorkflowPreferences:
    """Preferences set by the test. Boolean settings are on by default."""

    def __init__(self) -> None:
        self.stored_preferences = PreferenceValues(
            values={"pause_on_limit": True, "auto_resume": True, "continue_prompt": "proceed."}
        )

    def set_values(self, **values: Scalar) -> None:
        self.stored_preferences = replace(self.stored_preferences, values={**self.stored_preferences.values, **values})

    async def read_preferences(self, names: Sequence[str], agent: str, view: PaneView | None) -> PreferenceValues:
        return self.stored_preferences


class FakeWorkflowSessions:
    """``stored_sessions`` are the sessions of the pane, newest last."""

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
    """Fake services with a single pane, shared by several daemons started in succession."""

    def __init__(self, *workflows: Workflow):
        self.services = FakeServices()
        self.clock = self.services.clock
        self.pane = self.services.add_pane(build_shell_facts()).id
        self.runs = FakeRunStore(self.services.store)
        self.events: Bus[Event] = self.services.event_log.events
        self.pane_observer, self.detections = FakePaneObserver(self.services), FakeWorkflowDetections(self.services)
        self.gate, self.modes = FakeWorkflowGate(self.clock), FakeWorkflowModes()
        self.preferences = FakeWorkflowPreferences()
        self.select_account: Callable[[PaneId | None, str, str], Awaitable[AccountSelection]] = _select_no_account
        self.sessions, self.code_search = FakeWorkflowSessions(), FakeCodeSearch()
        self.registry = WorkflowRegistry("/nowhere", workflows)
        self.approval_bus: Bus[Approval] = Bus()
        self.max_concurrent = 3

    def build_engine(self, runs: RunStore | None = None) -> WorkflowEngine:
        """Build a new daemon's engine on the same panes, gate and run store."""
        # A crash test passes the same store, wrapped separately for each daemon.
        services = WorkflowServices(
            clock=self.clock,
            runs=runs or self.runs,
            signals=Bus(),
            events=self.events,
            detections=self.detections,
            read_newest_event_id=self.services.store.events.find_newest_id,
            panes=self.pane_observer,
            gate=self.gate,
            sessions=self.sessions,
            get_mode=self.modes.get_mode,
            read_preferences=self.preferences.read_preferences,
            search_code=self.code_search.search,
            select_account=self.select_account,
        )
        return WorkflowEngine(services, self.registry, self.approval_bus, lambda: self.max_concurrent)

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
        return self.services.add_detection(replace(detection, **more))


async def _select_no_account(_pane: PaneId | None, _agent: str, _service: str) -> AccountSelection:
    return AccountSelection(why="no accounts are configured")
