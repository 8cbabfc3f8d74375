"""Start workflow runs for events and requests, run them, and resume them after a restart.

In: detections, and requests from people and programs. Out: stored runs, and updates about them.
Invariants: an event is offered to the workflows once, even if the daemon crashes in between; one run at a time acts on
a pane; a failing run does not affect the others.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial

from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.errors import NotFound, StateConflict, StorageError, Unavailable, VisorError, WorkflowNotFound
from termvisor.log import get_logger
from termvisor.model.action.approval import Approval
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId
from termvisor.model.workflow import ENDED_RUN_STATUSES, Run, RunId, RunSignal
from termvisor.redaction import redact
from termvisor.workflows.calls import WAITING_STEP_KINDS, AskPersonCall, PauseCall, SleepUntilCall, WorkflowCall
from termvisor.workflows.engine.journal_replay import RunEnd, get_step_kind
from termvisor.workflows.engine.run_limits import CRASH_LOOP_REASON, RunSlot, RunSlots, is_crash_looping
from termvisor.workflows.engine.run_task import STEP_TIMEOUT_S, RunTask, StopRequest
from termvisor.workflows.engine.services import WorkflowServices
from termvisor.workflows.registry import WorkflowRegistry, build_run, match_workflows
from termvisor.workflows.steps.act import build_run_correlation
from termvisor.workflows.steps.dispatch import StepDispatcher
from termvisor.workflows.steps.wait import RESUME_SIGNAL
from termvisor.workflows.workflow import Workflow

_STORE_RETRY_DELAY_S = 5.0
"""Seconds after which a run that could not be stored is executed again."""
CANCEL_SIGNAL = "cancel"
PLANNED_PAUSE_REASON = "as planned"
"""The pause reason of a run that paused itself, as opposed to one paused by a person."""
log = get_logger("workflow")


class WorkflowEngine:
    def __init__(
        self,
        services: WorkflowServices,
        registry: WorkflowRegistry,
        approvals: Bus[Approval],
        get_max_concurrent: Callable[[], int],
    ):
        self._services, self._registry, self._approvals = services, registry, approvals
        self._runs, self._clock = services.runs, services.clock
        self.step_runner = StepDispatcher(services)
        self._slots = RunSlots(get_max_concurrent)
        self.run_updates: Bus[Run] = Bus()
        """Publishes each run when it starts, changes or ends, after it is stored."""
        # Only one run at a time acts on a pane: two runs would type into each other's text.
        self._pane_locks: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._open_runs: dict[RunId, Run] = {}
        self._run_tasks: dict[RunId, RunTask] = {}
        self._run_slots: dict[RunId, RunSlot] = {}
        self._paused_run_ids: set[RunId] = set()
        """Runs paused by a person, not executed until a person resumes them."""
        self._restart_run_ids: set[RunId] = set()
        """Runs to execute again as soon as their current task has ended."""
        self._task_group: asyncio.TaskGroup | None = None
        self._build_task: Callable[[Run, Workflow, Detection | None], RunTask]

    async def run(self) -> None:
        """Run until cancelled. The next daemon resumes the runs that are still open."""
        async with asyncio.TaskGroup() as group:
            self._task_group = group
            self._build_task = partial(
                RunTask,
                group=group,
                services=self._services,
                step_runner=self.step_runner,
                on_step_started=self._handle_step_started,
                on_step_ended=self._handle_step_ended,
            )
            try:
                await self._retry_until_stored(self._restart_open_runs)
                group.create_task(self._follow_approvals())
                group.create_task(self._follow_events())
                await self._follow_detections()
            finally:
                self._task_group = None

    @property
    def open_runs(self) -> list[Run]:
        return sorted(self._open_runs.values(), key=lambda run: run.id)

    async def start_run(self, run: Run) -> Run:
        """Start a run on request. Raises ``WorkflowNotFound``, or ``Conflict`` if the event was already handled."""
        if self._registry.find(run.workflow, run.version) is None:
            raise WorkflowNotFound(f"workflow {run.workflow!r} not found")
        started = await self._runs.add(run)
        if started is None:
            raise StateConflict(f"{run.workflow} has already handled event {run.event}")
        self._start_task(started)
        return started

    async def cancel(self, run_id: RunId, why: str, by: str) -> Run:
        """Cancel a run. Raises ``WorkflowNotFound`` for an unknown run, ``Conflict`` for an ended run."""
        run = await self._get_open_run(run_id)
        await self._record_signal(run, CANCEL_SIGNAL, why, by)
        self._paused_run_ids.discard(run_id)
        task = self._run_tasks.get(run_id)
        if task is None and not await self._runs.list_steps(run_id):
            await self._finish_run(run, RunEnd(status="cancelled", why=why))
        elif task is None:
            # A run with steps may have acted, so execute it once more.
            self._start_task(run)  # its cleanup has to run
        elif task.is_ending:
            self._restart_run_ids.add(run_id)
        else:
            task.request_stop(StopRequest("cancel", why))
        return run

    async def pause(self, run_id: RunId, why: str) -> Run:
        """Pause a run. The outcome of its current step is determined when it is resumed."""
        reason = f"held: {redact(why)}" if why else "held"
        run = replace(await self._get_open_run(run_id), status="paused", why=reason, due_at=None, plan="")
        self._paused_run_ids.add(run_id)
        await self._save_run(run)
        if task := self._run_tasks.get(run_id):
            task.request_stop(StopRequest("hold", why))
        return run

    async def resume(self, run_id: RunId, by: str) -> Run:
        """Resume a run that a person paused, or end a pause that its workflow requested."""
        run = await self._get_open_run(run_id)
        if run_id not in self._paused_run_ids:
            await self._record_signal(run, RESUME_SIGNAL, "", by)
            return run
        self._paused_run_ids.discard(run_id)
        run = replace(run, status="waiting", why="waiting for its turn")
        await self._save_run(run)
        if run_id in self._run_tasks:
            self._restart_run_ids.add(run_id)
        else:
            self._start_task(run)
        return run

    async def send_signal(self, run_id: RunId, word: str, value: str, by: str) -> Run:
        run = await self._get_open_run(run_id)
        await self._record_signal(run, word, value, by)
        return run

    async def _record_signal(self, run: Run, word: str, value: str, by: str) -> None:
        signal = RunSignal(run=run.id, at=self._clock.now(), word=word, value=redact(value), by=by)
        self._services.signals.publish(await self._runs.add_signal(signal))

    async def _get_open_run(self, run_id: RunId) -> Run:
        if run_id in self._open_runs:
            return self._open_runs[run_id]
        run = await self._runs.find(run_id)
        if run is None:
            raise WorkflowNotFound(f"workflow run {run_id} not found")
        if run.status not in ENDED_RUN_STATUSES:
            raise Unavailable("the open runs of the last daemon are not resumed yet", hint="Retry in a moment.")
        raise StateConflict(f"run {run_id} is {run.status}", hint=f"`visor workflow history {run_id}` shows its steps.")

    async def _restart_open_runs(self) -> None:
        # Runs with steps go first, because they may already have acted on their panes.
        # This also lets them take their pane's lock before new runs can.
        open_runs = [(run, await self._runs.list_steps(run.id)) for run in await self._runs.list_open()]
        for run, steps in sorted(open_runs, key=lambda item: (not item[1], item[0].id)):
            self._open_runs[run.id] = run
            if await is_crash_looping(self._runs, run, steps, self._clock.now()):
                log.error("run %d (%s) is paused: %s", run.id, run.workflow, CRASH_LOOP_REASON)
                await self.pause(run.id, CRASH_LOOP_REASON)
                continue
            # A planned pause is a step of the workflow and is replayed. A pause by a person lasts until someone resumes
            # it.
            if run.status == "paused" and run.why != PLANNED_PAUSE_REASON and not await self._read_cancel_reason(run):
                self._paused_run_ids.add(run.id)
            else:
                self._start_task(run)

    async def _follow_detections(self) -> None:
        # Each detection is offered once, because the cursor moves in the same transaction that stores its run.
        with self._services.events.subscribe() as updates:
            while True:
                await self._retry_until_stored(self._offer_new_detections)
                await updates.get()
                updates.drain()

    async def _offer_new_detections(self) -> None:
        cursor = await self._runs.read_cursor()
        if cursor is None:  # the very first start: do not handle past detections
            cursor = EventId(await self._services.read_newest_event_id())
            await self._runs.advance_cursor(cursor)
        while detections := await self._services.detections.list_unhandled(cursor):
            for detection in detections:
                await self._offer_detection(detection)
                cursor = detection.event

    async def _offer_detection(self, detection: Detection) -> None:
        get_mode, now = self._services.get_mode, self._clock.now()
        matching = match_workflows(detection, self._registry.list_workflows(), get_mode, now)
        if not matching:
            # Move the cursor anyway, so that the event is not offered to a workflow that is installed later.
            await self._runs.advance_cursor(detection.event)
            return
        workflow, *others = matching
        run = build_run(detection, workflow, get_mode(workflow.name), now, others)
        if (stored := await self._runs.add(run, detection.event)) is not None:
            self._start_task(stored)

    def _start_task(self, run: Run) -> None:
        self._open_runs[run.id] = run
        self.run_updates.publish(run)
        if self._task_group is not None:
            self._task_group.create_task(self._run_until_ended(run))

    async def _run_until_ended(self, run: Run) -> None:
        """Execute a run once its pane is free. Repeat it after a storage error or a restart request."""
        run_id, workflow = run.id, self._registry.find(run.workflow)
        pane = run.pane if workflow is None or workflow.takes_pane else None
        async with nullcontext() if pane is None else self._pane_locks[pane]:
            while run_id in self._open_runs and run_id not in self._run_tasks and run_id not in self._paused_run_ids:
                if await self._run_once(run_id):
                    await self._clock.sleep(_STORE_RETRY_DELAY_S)
                elif run_id not in self._restart_run_ids:
                    return
                self._restart_run_ids.discard(run_id)

    async def _run_once(self, run_id: RunId) -> bool:
        """Execute a run in a free slot. Return True if it must be repeated because of a storage error."""
        slot = self._run_slots[run_id] = RunSlot(self._slots)
        try:
            await slot.acquire()
            return await self._execute_run(run_id)
        except StorageError as error:
            log.warning("run %d waits for the store: %s", run_id, error.message)
            return True
        except VisorError as error:
            log.error("run %d failed: %s", run_id, error.message)
            await self._finish_run(self._open_runs[run_id], RunEnd(status="failed", why=error.message))
            return False
        finally:
            slot.release()
            self._run_tasks.pop(run_id, None)
            self._run_slots.pop(run_id, None)

    async def _execute_run(self, run_id: RunId) -> bool:
        if (run := self._open_runs.get(run_id)) is None:
            return False
        workflow = self._registry.find(run.workflow, run.version)
        if workflow is None:
            await self._finish_run(run, await self._end_without_workflow(run))
            return False
        trigger = None if run.event is None else await self._services.detections.find(run.event)
        task = self._build_task(run, workflow, trigger)
        if why := await self._find_cancel_reason(run, workflow):
            task.request_stop(StopRequest("cancel", why))
        if run_id not in self._open_runs:
            return False  # it was cancelled while its task was being built
        self._run_tasks[run_id] = task
        if not task.is_ending:
            await self._update_run(run, status="running", why="", due_at=None)
        end = await task.execute(await self._runs.list_steps(run_id))
        if end is not None:
            await self._finish_run(self._open_runs[run_id], end)
        elif run_id in self._paused_run_ids:
            # The resumed run requests its approvals again.
            await self._services.gate.withdraw_approvals(build_run_correlation(run))
        return task.is_stalled

    async def _end_without_workflow(self, run: Run) -> RunEnd:
        """End a run whose workflow is missing or changed, skipping its open steps."""
        steps = await self._runs.list_steps(run.id)
        why = self._registry.describe_missing_workflow(run, steps)
        for step in steps:
            if step.status in ("running", "retry"):
                await self._runs.save_step(run.id, replace(step, status="skipped", why=why, ended_at=self._clock.now()))
        cancelled = await self._read_cancel_reason(run)
        return RunEnd(status="cancelled", why=cancelled) if cancelled else RunEnd(status="failed", why=why)

    async def _find_cancel_reason(self, run: Run, workflow: Workflow) -> str:
        """Return why a run must not be executed; empty if it may."""
        if cancelled := await self._read_cancel_reason(run) or self._describe_switched_off(run):
            return cancelled
        if run.pane is None:
            return ""
        try:
            observation = await self._services.panes.observe(run.pane, 0)
        except NotFound as error:
            return "" if workflow.outlives_pane else error.message
        except VisorError:
            return ""  # its next step will report the error
        is_gone = run.runtime is not None and observation.runtime != run.runtime and not workflow.outlives_agent
        return "its agent exited" if is_gone else ""

    def _describe_switched_off(self, run: Run) -> str:
        return f"{run.workflow} is switched off" if self._services.get_mode(run.workflow) == "off" else ""

    async def _read_cancel_reason(self, run: Run) -> str:
        """Return the reason given when the run was cancelled; empty if it was not."""
        signals = await self._runs.list_signals(run.id)
        return next((signal.value or "cancelled" for signal in signals if signal.word == CANCEL_SIGNAL), "")

    async def _handle_step_started(self, run: Run, call: WorkflowCall) -> None:
        if isinstance(call, PauseCall):
            plan, why = redact(call.plan), PLANNED_PAUSE_REASON
            await self._update_run(run, status="paused", plan=plan, due_at=call.until, why=why)
            await self._mark_handled(run, "paused, as planned")
        elif isinstance(call, SleepUntilCall):
            await self._update_run(run, status="waiting", due_at=call.at, why="waiting for a time")
        elif isinstance(call, AskPersonCall):
            why = f"waiting for an answer ({' or '.join(call.choices)}): see `visor inbox`"
            await self._update_run(run, status="waiting", why=why)
        if get_step_kind(call) in WAITING_STEP_KINDS:
            self._release_slot(run.id)

    async def _handle_step_ended(self, run: Run, call: WorkflowCall) -> None:
        if get_step_kind(call) in WAITING_STEP_KINDS:
            await self._run_slots[run.id].acquire()
            await self._update_run(run, status="running", due_at=None, plan="", why="")

    def _release_slot(self, run_id: RunId) -> None:
        if slot := self._run_slots.get(run_id):
            slot.release()

    async def _update_run(self, run: Run, **changes: object) -> None:
        await self._save_run(replace(self._open_runs.get(run.id, run), **changes))

    async def _finish_run(self, run: Run, end: RunEnd) -> None:
        done = replace(run, status=end.status, why=end.why, due_at=None, plan="", ended_at=self._clock.now())
        if end.status == "completed":
            await self._mark_handled(done, end.why or "completed")
        await self._runs.save(done)
        await self._services.gate.withdraw_approvals(build_run_correlation(run))
        self._open_runs.pop(run.id, None)
        self.run_updates.publish(done)

    async def _mark_handled(self, run: Run, action: str) -> None:
        if run.event is not None:
            by = f"workflow:{run.workflow}"
            handling = DetectionHandling(at=self._clock.now(), by=by, action=redact(action)[:200], run=run.id)
            await self._services.detections.handle(run.event, handling)

    async def _save_run(self, run: Run) -> None:
        await self._runs.save(run)
        self._open_runs[run.id] = run
        self.run_updates.publish(run)

    async def _retry_until_stored(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                return await work()
            except StorageError as error:
                log.warning("workflows wait for the store: %s", error.message)
                await self._clock.sleep(_STORE_RETRY_DELAY_S)

    async def _follow_approvals(self) -> None:
        """Suspend runs while they wait for an approval, because waiting for a person is not work time."""
        with self._approvals.subscribe() as updates:
            while True:
                approval = await updates.get()
                for task in list(self._run_tasks.values()):
                    is_own = approval.correlation.startswith(f"{build_run_correlation(task.run)}.")
                    if is_own and approval.kind != "ask_person":
                        await self._retry_until_stored(partial(self._apply_approval, task, approval))

    async def _apply_approval(self, run_task: RunTask, approval: Approval) -> None:
        run_id = run_task.run.id
        if approval.state == "open":
            self._release_slot(run_id)
            run_task.extend_deadline(None)
            why = f"requires approval (request {approval.id})"
            await self._update_run(run_task.run, status="waiting", why=why)
        elif slot := self._run_slots.get(run_id):
            # The gate executes an approved action at once, so the run cannot wait for a slot.
            slot.acquire_over_limit()
            run_task.extend_deadline(STEP_TIMEOUT_S)
            await self._update_run(run_task.run, status="running", why="")

    async def _follow_events(self) -> None:
        """Cancel runs whose pane or agent is gone, or whose workflow was switched off."""
        with self._services.events.subscribe() as updates:
            while True:
                event = await updates.get()
                for task in list(self._run_tasks.values()):
                    if why := self._describe_event_cancel(task, event):
                        task.request_stop(StopRequest("cancel", why))

    def _describe_event_cancel(self, run_task: RunTask, event: Event) -> str:
        """Return why the event cancels the run; empty if it does not."""
        if event.kind == "config_reloaded":
            return self._describe_switched_off(run_task.run)
        if event.pane is None or run_task.run.pane != event.pane:
            return ""
        if event.kind == "pane_gone":
            return "" if run_task.workflow.outlives_pane else f"pane {event.pane} no longer exists"
        has_lost_agent = event.kind == "agent_ended" and run_task.run.runtime is not None
        return "its agent exited" if has_lost_agent and not run_task.workflow.outlives_agent else ""
