"""Connect the workflow engine to the daemon, and serve workflows and runs to operations."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict, replace

from termvisor.bus import Bus
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.workflows.code_search import search_code
from termvisor.daemon.workflows.pane_observer import PaneObserver
from termvisor.daemon.workflows.step_services import WorkflowGate, WorkflowSessions, read_preferences
from termvisor.errors import NotPermitted, StateConflict, WorkflowNotFound, build_person_required_error
from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.settings.workflows import resolve_workflow_mode
from termvisor.model.workflow import (
    DryRunStep,
    Run,
    RunChangeRequest,
    RunFilter,
    RunId,
    RunStep,
    WorkflowFileProblem,
    WorkflowInfo,
    WorkflowMode,
)
from termvisor.ops.api.services import Services
from termvisor.workflows.calls import AskPersonCall
from termvisor.workflows.engine.dry_run import DryRunExecutor, dry_run_workflow
from termvisor.workflows.engine.engine import WorkflowEngine
from termvisor.workflows.engine.services import WorkflowServices
from termvisor.workflows.registry import WorkflowRegistry, build_run, match_workflows
from termvisor.workflows.results import AccountSelection
from termvisor.workflows.workflow import Workflow

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import GateComponents
from collections.abc import Iterable
from fnmatch import fnmatchcase

from termvisor.agents.adapters import loader
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event import EVENT_TYPES
from termvisor.model.workflow import WorkflowReference

_SIGNAL_RULE_GLOBS = ("signal.*", "user_var.*")
"""Rule ids that belong to no pack: signals of agents, and user variables."""
AccountSelector = Callable[[PaneId | None, str, str], Awaitable[AccountSelection]]


class WorkflowService:
    def __init__(
        self,
        components: Components,
        services: Services,
        get_gate_components: "Callable[[], GateComponents]",
        select_account: AccountSelector,
    ):
        self._components, self._runs, self._clock = components, components.store.workflow_runs, components.clock
        self._registry = WorkflowRegistry(components.paths.workflows_dir)
        self._services = WorkflowServices(
            clock=components.clock,
            runs=self._runs,
            signals=Bus(),
            events=components.event_log.events,
            detections=components.store.detections,
            read_newest_event_id=components.store.events.find_newest_id,
            panes=PaneObserver(services, components.clock),
            gate=WorkflowGate(components, get_gate_components),
            sessions=WorkflowSessions(components),
            get_mode=self._get_mode,
            read_preferences=lambda *names: read_preferences(components.settings, *names),
            search_code=search_code,
            select_account=select_account,
        )
        self.engine = WorkflowEngine(
            self._services,
            self._registry,
            components.approval_bus,
            lambda: components.settings.workflow_max_concurrent,
        )
        self.sends_recovered = asyncio.Event()
        """Set once the outcomes of sends that an earlier daemon left open are known."""

    async def run(self) -> None:
        """Run the workflow engine until cancelled, starting once panes are listed and unfinished sends are resolved."""
        # A run is cancelled with its pane, and which panes are gone is unknown before the first scan.
        await self._components.server_supervisor.first_scan_done.wait()
        # A resumed step looks up its delivery, whose outcome must be known by then.
        await self.sends_recovered.wait()
        await self.engine.run()

    def list_workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowFileProblem]]:
        """Return the workflows by priority, and the workflow files that could not be loaded."""
        rules = self._components.active_rules.event_rules
        infos = [
            replace(
                _build_workflow_info(workflow, self._get_mode(workflow.name)),
                doubts=find_unknown_names(workflow.names, rules),
            )
            for workflow in self._registry.list_workflows()
        ]
        return infos, self._registry.problems

    def find_answering_workflow(self, detection: Detection) -> str | None:
        """Return the workflow that this detection would start now, by trigger, mode and priority, or None."""
        matching = match_workflows(detection, self._registry.list_workflows(), self._get_mode, self._clock.now())
        return matching[0].name if matching else None

    async def list_runs(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        """Return the newest runs, oldest first."""
        return await self._runs.list(filters, limit)

    async def get_run(self, run_id: RunId) -> tuple[Run, Sequence[RunStep]]:
        """Return a run and its steps. Raises WorkflowNotFound."""
        run = await self._runs.find(run_id)
        if run is None:
            raise WorkflowNotFound(f"run {run_id} not found")
        return run, await self._runs.list_steps(run_id)

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        """Start a run. Raises WorkflowNotFound, or Conflict (without ``force``) if the pane has no matching trigger."""
        registered = self._get_workflow(workflow)
        if self._get_mode(workflow) == "off":
            hint = f"`visor config set workflows.{workflow} ask` enables it."
            raise NotPermitted(f"workflow {workflow} is off", hint=hint)
        return await self.engine.start_run(await self._prepare_run(registered, pane, actor, force=force))

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        """Return the steps that a run would execute and its result, without executing anything."""
        registered, mode = self._get_workflow(workflow), self._get_mode(workflow)
        now = self._clock.now()
        trigger = await self._find_trigger(registered, pane)
        run = (
            await self._prepare_forced_run(registered, pane)
            if trigger is None
            else build_run(trigger, registered, mode, now)
        )
        executor = DryRunExecutor(run, self.engine.step_runner, self._services.gate, self._clock)
        return await dry_run_workflow(registered, executor, run, trigger)

    async def change_run(self, run_id: RunId, change: RunChangeRequest, actor: Actor) -> Run:
        """Pause, resume, cancel or signal a run. Raises WorkflowNotFound, or Conflict if it has ended."""
        by = f"{actor.kind}:{actor.uid}"
        if change.kind == "cancel":
            return await self.engine.cancel(run_id, change.word or f"cancelled by {by}", by)
        if change.kind == "pause":
            return await self.engine.pause(run_id, change.word)
        if change.kind == "resume":
            return await self.engine.resume(run_id, by)
        # Otherwise an agent could answer a question about itself.
        if actor.kind != "human" and change.word in await self._list_open_choices(run_id):
            raise build_person_required_error("this answer", actor.doubt, "visor inbox")
        return await self.engine.send_signal(run_id, change.word, change.value, by)

    def _get_mode(self, workflow: str) -> WorkflowMode:
        registered = self._registry.find(workflow)
        if registered is None:
            return "off"
        return resolve_workflow_mode(self._components.settings.workflow_modes, workflow, registered.mode)

    async def _list_open_choices(self, run_id: RunId) -> Sequence[str]:
        """Return the choices of the `ask_person` step in which the run is waiting."""
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
            raise StateConflict(
                f"pane {pane} has no recent event that triggers {workflow.name}",
                hint="`--force` starts it anyway; policy and preconditions still apply.",
            )
        mode = self._get_mode(workflow.name)
        return replace(build_run(trigger, workflow, mode, self._clock.now()), origin=origin)

    async def _prepare_forced_run(self, workflow: Workflow, pane: PaneId) -> Run:
        """Return a run without a trigger, for the agent that is currently in the pane."""
        observation = await self._services.panes.observe(pane, 0)
        mode = self._get_mode(workflow.name)
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
        detections = await self._services.list_recent_detections(pane, since)
        # The list is ordered oldest first.
        return next((item for item in reversed(detections) if workflow.trigger.matches(item)), None)


def _build_workflow_info(workflow: Workflow, mode: WorkflowMode) -> WorkflowInfo:
    own = ("name", "version", "summary", "origin", "priority", "timeout", "takes_pane", "steps")
    fields = {name: getattr(workflow, name) for name in own} | asdict(workflow.trigger)
    return WorkflowInfo(mode=mode, **fields)


def find_unknown_names(names: Sequence[WorkflowReference], rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return a warning for each unknown name; none while no rules are loaded."""
    # Rules are loaded after startup; until then, every name would look unknown.
    if not names or not rules:
        return ()
    ids = frozenset(rule.id for rule in rules)
    events = frozenset((*EVENT_TYPES, "user_var", *(rule.event for rule in rules)))
    adapters = frozenset(adapter.name for adapter in loader.load_adapters())
    known = {"event": events, "rule": ids | events, "agent": adapters}
    return tuple(filter(None, (_describe_unknown_name(name, known[name.kind]) for name in names)))


def _describe_unknown_name(reference: WorkflowReference, known: Iterable[str]) -> str:
    if any(fnmatchcase(name, reference.word) for name in known):
        return ""
    if reference.kind == "rule" and any(fnmatchcase(reference.word, glob) for glob in _SIGNAL_RULE_GLOBS):
        return ""
    close = find_close_matches(reference.word, sorted(known))
    suggestion = f"; did you mean {close[0]}?" if close else ""
    return f"{reference.place}: unknown {reference.kind} {reference.word!r}{suggestion}"
