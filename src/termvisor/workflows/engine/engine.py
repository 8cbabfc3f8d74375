"""The engine: events become runs, runs become steps, and every run that was begun comes to an end.

What comes in: detections, and the wishes of people and programs. What goes out: runs in the store, news of them.
Invariant: an event is offered to the workflows once, whatever happens to the daemon in between; a pane is acted on by
one run at a time; what one run does wrong is its own affair.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial

from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.errors import Conflict, NotFound, StorageError, Unavailable, VisorError, WorkflowNotFound
from termvisor.log import get_logger
from termvisor.model.action.approval import Approval
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.model.workflow.run import ENDED_RUN_STATUSES, Run, RunId, RunSignal
from termvisor.redaction import redact
from termvisor.workflows.calls import WAITING_STEP_KINDS, AskPersonCall, PauseCall, SleepUntilCall, WorkflowCall
from termvisor.workflows.engine.concurrency import RunSlot, RunSlots
from termvisor.workflows.engine.crash_loop import CRASH_LOOP_REASON, is_crash_looping
from termvisor.workflows.engine.dependencies import EngineDependencies
from termvisor.workflows.engine.journal_replay import RunEnd, get_step_kind
from termvisor.workflows.engine.run_task import STEP_TIMEOUT_S, RunTask, RunTaskDependencies, StopRequest
from termvisor.workflows.steps.act import build_run_correlation
from termvisor.workflows.steps.dispatch import StepDispatcher
from termvisor.workflows.steps.sleep import RESUME_SIGNAL
from termvisor.workflows.trigger_match import build_run, match_workflow
from termvisor.workflows.workflow import Workflow

_STORE_RETRY_DELAY_S = 5.0
"""Seconds after which a run is lived again that could not be stored."""
CANCEL_SIGNAL = "cancel"
PLANNED_PAUSE_REASON = "as planned"
"""Why a run is paused that paused itself."""
log = get_logger("workflow")


class WorkflowEngine:
    def __init__(self, dependencies: EngineDependencies):
        self._dependencies, self._runs, self._clock = dependencies, dependencies.runs, dependencies.clock
        self.step_runner = StepDispatcher(dependencies.services)
        self._slots = RunSlots(dependencies.get_max_concurrent)
        self.run_updates: Bus[Run] = Bus()
        """Runs as they begin, change and end; each is stored before."""
        self._pane_locks: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._open_runs: dict[RunId, Run] = {}
        self._run_tasks: dict[RunId, RunTask] = {}
        self._run_slots: dict[RunId, RunSlot] = {}
        self._paused_run_ids: set[RunId] = set()
        """Those that a person paused: they do not live until a person says so."""
        self._restart_run_ids: set[RunId] = set()
        """Those that are to live once more as soon as the life that ends now has ended."""
        self._task_group: asyncio.TaskGroup | None = None
        self._task_dependencies: RunTaskDependencies

    async def run(self) -> None:
        """Until it is cancelled; runs that are open then go on with the next daemon."""
        async with asyncio.TaskGroup() as group:
            self._task_group, self._task_dependencies = group, self._build_task_dependencies(group)
            try:
                await self._retry_until_stored(self._restart_open_runs)
                group.create_task(self._follow_approvals())
                group.create_task(self._follow_events())
                await self._follow_detections()
            finally:
                self._task_group = None

    def _build_task_dependencies(self, group: asyncio.TaskGroup) -> RunTaskDependencies:
        clock, begins, ends = self._clock, self._handle_step_started, self._handle_step_ended
        return RunTaskDependencies(
            group=group,
            journal=self._runs,
            step_runner=self.step_runner,
            clock=clock,
            on_step_started=begins,
            on_step_ended=ends,
        )

    @property
    def open_runs(self) -> list[Run]:
        """Runs that have not ended, as they stand."""
        return sorted(self._open_runs.values(), key=lambda run: run.id)

    async def start_run(self, run: Run) -> Run:
        """A run that a person or program wants. Raises ``NoWorkflow``."""
        if self._dependencies.registry.find(run.workflow, run.version) is None:
            raise WorkflowNotFound(f"there is no workflow {run.workflow!r}")
        begun = await self._runs.add(run)
        if begun is None:
            raise Conflict(f"{run.workflow} has answered event {run.event} already")
        self._start_task(begun)
        return begun

    async def cancel(self, run_id: RunId, why: str, by: str) -> Run:
        """Raises ``NoWorkflow`` for no such run, ``Conflict`` for one that has ended."""
        run = await self._get_open_run(run_id)
        await self._record_signal(run, CANCEL_SIGNAL, why, by)
        self._paused_run_ids.discard(run_id)
        life = self._run_tasks.get(run_id)
        if life is None and not await self._runs.list_steps(run_id):
            await self._finish_run(run, RunEnd(status="cancelled", why=why))
        elif life is None:
            self._start_task(run)  # it lives once more, to end
        elif life.is_ending:
            self._restart_run_ids.add(run_id)
        else:
            life.request_stop(StopRequest("cancel", why))
        return run

    async def pause(self, run_id: RunId, why: str) -> Run:
        """Hold it where it is. What it is doing right now is found out when it goes on."""
        held = f"held: {redact(why)}" if why else "held"
        run = replace(await self._get_open_run(run_id), status="paused", why=held, due_at=None, plan="")
        self._paused_run_ids.add(run_id)
        await self._save_run(run)
        if life := self._run_tasks.get(run_id):
            life.request_stop(StopRequest("hold", why))
        return run

    async def resume(self, run_id: RunId, by: str) -> Run:
        """Go on: with what it was held in, or behind the pause that it is in."""
        run = await self._get_open_run(run_id)
        if run_id not in self._paused_run_ids:
            await self._record_signal(run, RESUME_SIGNAL, "", by)
            return run
        self._paused_run_ids.discard(run_id)
        run = replace(run, status="waiting", why="it waits for its turn")
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
        self._dependencies.signals.publish(await self._runs.add_signal(signal))

    async def _get_open_run(self, run_id: RunId) -> Run:
        if run_id in self._open_runs:
            return self._open_runs[run_id]
        found = await self._runs.find(run_id)
        if found is None:
            raise WorkflowNotFound(f"there is no run {run_id}")
        if found.status not in ENDED_RUN_STATUSES:
            raise Unavailable("the runs that the last daemon left are not taken up yet", hint="Ask again in a moment.")
        raise Conflict(f"run {run_id} is {found.status}", hint=f"`visor workflow history {run_id}` tells how it went.")

    async def _restart_open_runs(self) -> None:
        """Those that had begun go first: they may hold their panes."""
        left = [(run, await self._runs.list_steps(run.id)) for run in await self._runs.list_open()]
        for run, steps in sorted(left, key=lambda one: (not one[1], one[0].id)):
            self._open_runs[run.id] = run
            if await is_crash_looping(self._runs, run, steps, self._clock.now()):
                log.error("run %d (%s) is held: %s", run.id, run.workflow, CRASH_LOOP_REASON)
                await self.pause(run.id, CRASH_LOOP_REASON)
                continue
            if run.status == "paused" and run.why != PLANNED_PAUSE_REASON and not await self._read_cancel_reason(run):
                self._paused_run_ids.add(run.id)
            else:
                self._start_task(run)

    async def _follow_detections(self) -> None:
        """Every detection is offered once; the cursor moves in the same transaction in which its run begins."""
        with self._dependencies.services.detections.subscribe() as news:
            while True:
                await self._retry_until_stored(self._offer_new_detections)
                await news.get()
                news.drain()

    async def _offer_new_detections(self) -> None:
        detected = self._dependencies.services.detections
        cursor = await self._runs.read_cursor()
        if cursor is None:  # on the very first start nothing of the past is answered
            cursor = await detected.read_newest_event_id()
            await self._runs.advance_cursor(cursor)
        while found := await detected.list_unhandled(cursor):
            for one in found:
                await self._offer_detection(one)
                cursor = one.event

    async def _offer_detection(self, detection: Detection) -> None:
        modes, now = self._dependencies.services.modes, self._clock.now()
        chosen = match_workflow(detection, self._dependencies.registry.list_workflows(), modes.get_mode, now)
        if chosen is None:
            await self._runs.advance_cursor(detection.event)
            return
        run = await self._runs.add(
            build_run(detection, chosen, modes.get_mode(chosen.workflow.name), now), detection.event
        )
        if run is not None:
            self._start_task(run)

    def _start_task(self, run: Run) -> None:
        self._open_runs[run.id] = run
        self.run_updates.publish(run)
        if self._task_group is not None:
            self._task_group.create_task(self._run_until_ended(run))

    async def _run_until_ended(self, run: Run) -> None:
        """A run from its turn to its end; again where nothing could be stored."""
        number, workflow = run.id, self._dependencies.registry.find(run.workflow)
        pane = run.pane if workflow is None or workflow.takes_pane else None
        async with nullcontext() if pane is None else self._pane_locks[pane]:
            while number in self._open_runs and number not in self._run_tasks and number not in self._paused_run_ids:
                if await self._run_once(number):
                    await self._clock.sleep(_STORE_RETRY_DELAY_S)
                elif number not in self._restart_run_ids:
                    return
                self._restart_run_ids.discard(number)

    async def _run_once(self, run_id: RunId) -> bool:
        """One life of a run; whether it must be lived again because nothing could be stored."""
        seat = self._run_slots[run_id] = RunSlot(self._slots)
        try:
            await seat.acquire()
            return await self._execute_run(run_id)
        except StorageError as error:
            log.warning("run %d waits: %s", run_id, error.message)
            return True
        except VisorError as error:
            log.error("run %d cannot go on: %s", run_id, error.message)
            await self._finish_run(self._open_runs[run_id], RunEnd(status="failed", why=error.message))
            return False
        finally:
            seat.release()
            self._run_tasks.pop(run_id, None)
            self._run_slots.pop(run_id, None)

    async def _execute_run(self, run_id: RunId) -> bool:
        if (run := self._open_runs.get(run_id)) is None:
            return False
        workflow = self._dependencies.registry.find(run.workflow, run.version)
        if workflow is None:
            await self._finish_run(run, await self._end_without_workflow(run))
            return False
        life = await self._build_run_task(run, workflow)
        if run_id not in self._open_runs:
            return False  # it was cancelled in this moment
        self._run_tasks[run_id] = life
        if not life.is_ending:
            await self._save_run(self._update_run(run, status="running", why="", due_at=None))
        end = await life.execute(await self._runs.list_steps(run_id))
        if end is not None:
            await self._finish_run(self._open_runs[run_id], end)
        elif run_id in self._paused_run_ids:
            await self._dependencies.services.gate.withdraw_approvals(
                build_run_correlation(run)
            )  # it is asked anew when it goes on
        return life.is_stalled

    async def _end_without_workflow(self, run: Run) -> RunEnd:
        """What it began with is no longer there; what it was at is left as it is."""
        steps = await self._runs.list_steps(run.id)
        why = self._dependencies.registry.describe_missing_workflow(run, steps)
        for step in steps:
            if step.status in ("running", "retry"):
                await self._runs.save_step(run.id, replace(step, status="skipped", why=why, ended_at=self._clock.now()))
        cancelled = await self._read_cancel_reason(run)
        return RunEnd(status="cancelled", why=cancelled) if cancelled else RunEnd(status="failed", why=why)

    async def _build_run_task(self, run: Run, workflow: Workflow) -> RunTask:
        trigger = None if run.event is None else await self._dependencies.services.detections.find_detection(run.event)
        life = RunTask(run, workflow, trigger, self._task_dependencies)
        if why := await self._find_cancel_reason(run, workflow):
            life.request_stop(StopRequest("cancel", why))
        return life

    async def _find_cancel_reason(self, run: Run, workflow: Workflow) -> str:
        """Why a run should not go on, before it does."""
        if cancelled := await self._read_cancel_reason(run) or self._describe_switched_off(run):
            return cancelled
        if run.pane is None:
            return ""
        try:
            seen = await self._dependencies.services.panes.observe(run.pane, 0)
        except NotFound as error:
            return "" if workflow.outlives_pane else error.message
        except VisorError:
            return ""  # its next step will find out
        is_other = run.runtime is not None and seen.runtime != run.runtime and not workflow.outlives_agent
        return "its agent ended" if is_other else ""

    def _describe_switched_off(self, run: Run) -> str:
        return (
            f"{run.workflow} is switched off"
            if self._dependencies.services.modes.get_mode(run.workflow) == "off"
            else ""
        )

    async def _read_cancel_reason(self, run: Run) -> str:
        """What was said when it was cancelled; empty where it was not."""
        said = [
            one.value or "it was cancelled"
            for one in await self._runs.list_signals(run.id)
            if one.word == CANCEL_SIGNAL
        ]
        return said[0] if said else ""

    async def _handle_step_started(self, run: Run, call: WorkflowCall) -> None:
        if get_step_kind(call) not in WAITING_STEP_KINDS:
            return
        if isinstance(call, PauseCall):
            plan = redact(call.plan)
            await self._save_run(
                self._update_run(run, status="paused", plan=plan, due_at=call.until, why=PLANNED_PAUSE_REASON)
            )
            await self._mark_handled(run, "paused, as planned")
        elif isinstance(call, SleepUntilCall):
            await self._save_run(self._update_run(run, status="waiting", due_at=call.at, why="it waits for a time"))
        elif isinstance(call, AskPersonCall):
            why = f"a person must say {' or '.join(call.choices)}: `visor inbox` asks"
            await self._save_run(self._update_run(run, status="waiting", why=why))
        self._release_slot(run.id)

    async def _handle_step_ended(self, run: Run, call: WorkflowCall) -> None:
        if get_step_kind(call) not in WAITING_STEP_KINDS:
            return
        await self._run_slots[run.id].acquire()
        await self._save_run(self._update_run(run, status="running", due_at=None, plan="", why=""))

    def _release_slot(self, run_id: RunId) -> None:
        if seat := self._run_slots.get(run_id):
            seat.release()

    def _update_run(self, run: Run, **changes: object) -> Run:
        return replace(self._open_runs.get(run.id, run), **changes)

    async def _finish_run(self, run: Run, end: RunEnd) -> None:
        done = replace(run, status=end.status, why=end.why, due_at=None, plan="", ended_at=self._clock.now())
        if end.status == "completed":
            await self._mark_handled(done, end.why or "completed")
        await self._runs.save(done)
        await self._dependencies.services.gate.withdraw_approvals(build_run_correlation(run))
        self._open_runs.pop(run.id, None)
        self.run_updates.publish(done)

    async def _mark_handled(self, run: Run, action: str) -> None:
        if run.event is not None:
            by = f"workflow:{run.workflow}"
            handling = DetectionHandling(at=self._clock.now(), by=by, action=redact(action)[:200], run=run.id)
            await self._dependencies.services.detections.mark_handled(run.event, handling)

    async def _save_run(self, run: Run) -> None:
        await self._runs.save(run)
        self._open_runs[run.id] = run
        self.run_updates.publish(run)

    async def _retry_until_stored(self, work: Callable[[], Awaitable[None]]) -> None:
        """Until it could be stored."""
        while True:
            try:
                return await work()
            except StorageError as error:
                log.warning("workflows wait: %s", error.message)
                await self._clock.sleep(_STORE_RETRY_DELAY_S)

    async def _follow_approvals(self) -> None:
        """A run whose act a person is asked about waits; the time that they take is not its own."""
        with self._dependencies.approvals.subscribe() as news:
            while True:
                question = await news.get()
                for life in list(self._run_tasks.values()):
                    if (
                        question.correlation.startswith(f"{build_run_correlation(life.run)}.")
                        and question.kind != "ask_person"
                    ):
                        await self._retry_until_stored(partial(self._apply_approval, life, question))

    async def _apply_approval(self, run_task: RunTask, approval: Approval) -> None:
        number = run_task.run.id
        if approval.state == "open":
            self._release_slot(number)
            run_task.extend_deadline(None)
            why = f"a person must allow what it wants to do (question {approval.id})"
            await self._save_run(self._update_run(run_task.run, status="waiting", why=why))
        elif seat := self._run_slots.get(number):
            seat.acquire_over_limit()
            run_task.extend_deadline(STEP_TIMEOUT_S)
            await self._save_run(self._update_run(run_task.run, status="running", why=""))

    async def _follow_events(self) -> None:
        """Whose pane or agent is gone ends, and who is switched off."""
        with self._dependencies.events.subscribe() as news:
            while True:
                event = await news.get()
                if event.kind in ("pane_gone", "agent_ended") and event.pane is not None:
                    self._cancel_orphaned_runs(event)
                if event.kind == "config_reloaded":
                    self._cancel_switched_off_runs()

    def _cancel_switched_off_runs(self) -> None:
        for life in list(self._run_tasks.values()):
            if why := self._describe_switched_off(life.run):
                life.request_stop(StopRequest("cancel", why))

    def _cancel_orphaned_runs(self, event: Event) -> None:
        for life in list(self._run_tasks.values()):
            if life.run.pane != event.pane:
                continue
            if event.kind == "pane_gone" and life.outlives_pane:
                continue
            if event.kind == "pane_gone":
                life.request_stop(StopRequest("cancel", f"pane {event.pane} no longer exists"))
            elif life.run.runtime is not None and not life.outlives_agent:
                life.request_stop(StopRequest("cancel", "its agent ended"))
