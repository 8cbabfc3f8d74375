"""Connect the workflow engine to the daemon, and serve workflows and runs to operations."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.workflows.code_search import AstGrepSearch
from termvisor.daemon.workflows.file_warnings import find_unknown_names
from termvisor.daemon.workflows.pane_observer import PaneObserver
from termvisor.daemon.workflows.preferences import WorkflowPreferences
from termvisor.daemon.workflows.sessions import WorkflowSessions
from termvisor.errors import Conflict, Refused, WorkflowNotFound
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.delivery import DeliveryRecord
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import Verdict
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId
from termvisor.model.settings.workflows import resolve_workflow_mode
from termvisor.model.workflow.info import DryRunStep, RunChangeRequest, WorkflowFileProblem, WorkflowInfo
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunSignal, RunStep, WorkflowMode
from termvisor.ops.api.services import ReadOnlyServices
from termvisor.store.tables.workflow_runs import WorkflowRunTable
from termvisor.workflows.account_failover import AccountSelector
from termvisor.workflows.calls import AskPersonCall
from termvisor.workflows.engine.dry_run import DryRunExecutor, dry_run_workflow
from termvisor.workflows.engine.engine import WorkflowEngine
from termvisor.workflows.engine.services import StepServices
from termvisor.workflows.registry import WorkflowRegistry
from termvisor.workflows.trigger_match import WorkflowMatch, build_run, match_workflow
from termvisor.workflows.workflow import Workflow

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import GateComponents

WORKFLOWS_FOLDER = "workflows"
_MAX_DETECTIONS = 200
"""Only the newest detections of a pane are searched for a trigger."""


class WorkflowDetections:
    def __init__(self, components: Components):
        self._detections, self._events = components.store.detections, components.store.events
        self._event_bus = components.event_log.events

    async def list_unhandled(self, after: int) -> Sequence[Detection]:
        return await self._detections.list_unhandled(after)

    async def list_since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        return await self._detections.list(DetectionFilter(pane=pane, since=at, limit=_MAX_DETECTIONS))

    async def find_detection(self, event: EventId) -> Detection | None:
        return await self._detections.find(event)

    async def mark_handled(self, event: EventId, handling: DetectionHandling) -> None:
        await self._detections.handle(event, handling)

    async def read_newest_event_id(self) -> EventId:
        return EventId(await self._events.find_newest_id())

    def subscribe(self) -> AbstractContextManager[Subscription[Event]]:
        return self._event_bus.subscribe()


class WorkflowGate:
    """The gate for workflow steps; it is built when a run acts for the first time."""

    def __init__(self, components: Components, get_gate_components: "Callable[[], GateComponents]"):
        self._store, self._get_gate_components = components.store, get_gate_components

    async def run(self, action: Action, actor: Actor, preconditions: Preconditions) -> Outcome:
        return await self._get_gate_components().gate.run(action, actor, preconditions)

    async def preview(self, action: Action, actor: Actor, preconditions: Preconditions) -> tuple[Verdict, str]:
        verdict, refused, _ = await self._get_gate_components().gate.preview(action, actor, preconditions)
        return verdict, refused.text if refused else ""

    async def list_audit_entries(self, correlation: str) -> list[AuditEntry]:
        return await self._store.audit.list(filters=AuditFilter(correlation=correlation))

    async def find_delivery(self, key: str) -> DeliveryRecord | None:
        return await self._store.deliveries.find_by_key(key)

    async def withdraw_approvals(self, correlation: str) -> None:
        for approval in await self._store.approvals.list():
            if f"{approval.correlation}.".startswith(f"{correlation}."):
                withdrawn = await self._store.approvals.withdraw(approval.id)
                self._get_gate_components().approvals.updates.publish(withdrawn or approval)


class RunSignalFeed:
    def __init__(self, runs: WorkflowRunTable, bus: Bus[RunSignal]):
        self._runs, self._bus = runs, bus

    async def list_signals(self, run: int) -> list[RunSignal]:
        return await self._runs.list_signals(RunId(run))

    def subscribe(self) -> AbstractContextManager[Subscription[RunSignal]]:
        return self._bus.subscribe()


class WorkflowModes:
    def __init__(self, components: Components, registry: WorkflowRegistry):
        self._components, self._registry = components, registry

    def get_mode(self, workflow: str) -> WorkflowMode:
        registered = self._registry.find(workflow)
        if registered is None:
            return "off"
        return resolve_workflow_mode(self._components.settings.workflow_modes, workflow, registered.mode)


class DaemonWorkflows:
    def __init__(
        self,
        components: Components,
        services: ReadOnlyServices,
        get_gate_components: "Callable[[], GateComponents]",
        account_selector: AccountSelector,
    ):
        self._components, self._runs, self._clock = components, components.store.workflow_runs, components.clock
        self._registry = WorkflowRegistry(f"{components.paths.config_dir}/{WORKFLOWS_FOLDER}")
        signals: Bus[RunSignal] = Bus()
        self._step_services = StepServices(
            panes=PaneObserver(services, components.clock),
            detections=WorkflowDetections(components),
            gate=WorkflowGate(components, get_gate_components),
            signals=RunSignalFeed(components.store.workflow_runs, signals),
            modes=WorkflowModes(components, self._registry),
            preferences=WorkflowPreferences(components),
            sessions=WorkflowSessions(components),
            code_search=AstGrepSearch(),
            clock=components.clock,
            account_selector=account_selector,
        )
        self.engine = WorkflowEngine(
            runs=components.store.workflow_runs,
            services=self._step_services,
            registry=self._registry,
            clock=components.clock,
            signals=signals,
            approvals=components.approval_bus,
            events=components.event_log.events,
            get_max_concurrent=lambda: components.settings.workflow_max_concurrent,
        )
        self.sends_recovered = asyncio.Event()
        """Set once the sends that an earlier daemon left open are resolved."""

    async def run(self) -> None:
        """Run the engine until cancelled; it starts once the panes are known and open sends are resolved."""
        await self._components.server_supervisor.first_scan_done.wait()
        await self.sends_recovered.wait()
        await self.engine.run()

    def list_workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowFileProblem]]:
        rules = self._components.active_rules.event_rules
        infos = [
            replace(
                _build_workflow_info(workflow, self._step_services.modes.get_mode(workflow.name)),
                doubts=find_unknown_names(workflow.names, rules),
            )
            for workflow in self._registry.list_workflows()
        ]
        problems = [
            WorkflowFileProblem(file=item.file, why=item.why, name=item.name) for item in self._registry.problems
        ]
        return infos, problems

    def find_answering_workflow(self, detection: Detection) -> str | None:
        match = match_workflow(
            detection, self._registry.list_workflows(), self._step_services.modes.get_mode, self._clock.now()
        )
        return match.workflow.name if match is not None else None

    async def list_runs(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        return await self._runs.list(filters, limit)

    async def get_run(self, run_id: RunId) -> tuple[Run, Sequence[RunStep]]:
        run = await self._runs.find(run_id)
        if run is None:
            raise WorkflowNotFound(f"run {run_id} not found")
        return run, await self._runs.list_steps(run_id)

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        registered = self._get_workflow(workflow)
        if self._step_services.modes.get_mode(workflow) == "off":
            hint = f"`visor config set workflow_modes {workflow}=ask` enables it."
            raise Refused(f"workflow {workflow} is off", hint=hint)
        return await self.engine.start_run(await self._prepare_run(registered, pane, actor, force=force))

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        registered, mode = self._get_workflow(workflow), self._step_services.modes.get_mode(workflow)
        now = self._clock.now()
        trigger = await self._find_trigger(registered, pane)
        run = (
            await self._prepare_forced_run(registered, pane)
            if trigger is None
            else build_run(trigger, WorkflowMatch(registered), mode, now)
        )
        executor = DryRunExecutor(run, self.engine.step_runner, self._step_services.gate, self._clock)
        result = await dry_run_workflow(registered, executor, run, trigger)
        return result.steps, result.why

    async def change_run(self, run_id: RunId, change: RunChangeRequest, actor: Actor) -> Run:
        by = f"{actor.kind}:{actor.uid}"
        if change.kind == "cancel":
            return await self.engine.cancel(run_id, change.word or f"cancelled by {by}", by)
        if change.kind == "pause":
            return await self.engine.pause(run_id, change.word)
        if change.kind == "resume":
            return await self.engine.resume(run_id, by)
        if actor.kind != "human" and change.word in await self._list_open_choices(run_id):
            raise Refused("this answer must come from an interactive terminal", hint="Answer it with `visor inbox`.")
        return await self.engine.send_signal(run_id, change.word, change.value, by)

    async def _list_open_choices(self, run_id: RunId) -> Sequence[str]:
        """Return the choices of the `ask_person` step that the run waits in."""
        steps = await self._runs.list_steps(run_id)
        waiting = [step for step in steps[-1:] if step.kind == "ask_person" and step.status == "running"]
        return msgspec.json.decode(waiting[0].given, type=AskPersonCall).choices if waiting else ()

    def _get_workflow(self, name: str) -> Workflow:
        workflow = self._registry.find(name)
        if workflow is None:
            raise WorkflowNotFound(f"workflow {name!r} not found")
        return workflow

    async def _prepare_run(self, workflow: Workflow, pane: PaneId, actor: Actor, *, force: bool) -> Run:
        origin = "person" if actor.kind == "human" else "robot"
        if force or not workflow.trigger.events:
            return replace(await self._prepare_forced_run(workflow, pane), origin=origin)
        trigger = await self._find_trigger(workflow, pane)
        if trigger is None:
            raise Conflict(
                f"pane {pane} has no recent event that triggers {workflow.name}",
                hint="`--force` starts it anyway; policy and preconditions still apply.",
            )
        mode = self._step_services.modes.get_mode(workflow.name)
        return replace(build_run(trigger, WorkflowMatch(workflow), mode, self._clock.now()), origin=origin)

    async def _prepare_forced_run(self, workflow: Workflow, pane: PaneId) -> Run:
        """Return a run without a trigger, for the agent that is in the pane now."""
        observation = await self._step_services.panes.observe(pane, 0)
        mode = self._step_services.modes.get_mode(workflow.name)
        return Run(
            workflow=workflow.name,
            version=workflow.version,
            pane=pane,
            at=self._clock.now(),
            status="waiting",
            why="waiting for its turn",
            correlation=os.urandom(8).hex(),
            mode=mode,
            runtime=observation.runtime,
            agent=observation.agent,
        )

    async def _find_trigger(self, workflow: Workflow, pane: PaneId) -> Detection | None:
        """Return the newest detection in the pane that triggers the workflow."""
        since = self._clock.now() - int(workflow.trigger.fresh_for * NS)
        detections = await self._step_services.detections.list_since(pane, since)
        return next((item for item in reversed(detections) if workflow.trigger.matches(item)), None)


def _build_workflow_info(workflow: Workflow, mode: WorkflowMode) -> WorkflowInfo:
    trigger = workflow.trigger
    return WorkflowInfo(
        name=workflow.name,
        version=workflow.version,
        summary=workflow.summary,
        origin=workflow.origin,
        mode=mode,
        events=trigger.events,
        agents=trigger.agents,
        rules=trigger.rules,
        severity=trigger.severity,
        fresh_for=trigger.fresh_for,
        priority=workflow.priority,
        timeout=workflow.timeout,
        takes_pane=workflow.takes_pane,
        steps=workflow.steps,
    )
