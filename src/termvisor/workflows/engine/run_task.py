"""Execute a run in this daemon: replay its journal, continue its work, then run its cleanup once.

The work runs in its own asyncio task, so that it can be cancelled when it hangs, when a person cancels the run,
or when its pane is gone. The end of the work is one step in the journal. Later steps belong to the cleanup.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from termvisor.errors import Diverged, NotDone, NotFound, StorageError, VisorError
from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow import Run, RunStep
from termvisor.redaction import redact
from termvisor.workflows.calls import WAITING_STEP_KINDS, ActionCall, WaitFor, WorkflowCall
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import (
    END_STEP_KIND,
    RunEnd,
    encode_redacted,
    get_step_kind,
    split_journal,
    sum_work_seconds,
)
from termvisor.workflows.engine.journaled_calls import JournaledExecutor, StepRunner
from termvisor.workflows.engine.services import WorkflowServices
from termvisor.workflows.workflow import Workflow, WorkflowFunction

# Replaying the whole journal must fit within it as well.
MAX_SECONDS_BETWEEN_STEPS = 20.0
"""Seconds allowed between two steps, where a workflow only computes."""
STEP_TIMEOUT_S = 120.0
"""Seconds allowed for a step in addition to its own wait."""
CLEANUP_TIMEOUT_S = 120.0
CANCEL_GRACE_S = 5.0
"""Seconds allowed for a cancelled workflow to end."""
log = get_logger("workflow")


class StopRequest(Struct, frozen=True):
    """The reason to stop the task before its work ends. ``cancel`` ends the run; ``hold`` only pauses it."""

    kind: Literal["cancel", "hold"]
    why: str


RunStepListener = Callable[[Run, WorkflowCall], Awaitable[None]]


class RunTask:
    """``group`` is the engine's task group, so that work which ignores cancellation cannot keep its run open."""

    def __init__(
        self,
        run: Run,
        workflow: Workflow,
        trigger: Detection | None,
        *,
        group: asyncio.TaskGroup,
        services: WorkflowServices,
        step_runner: StepRunner,
        on_step_started: RunStepListener,
        on_step_ended: RunStepListener,
    ):
        self.run, self.workflow, self._trigger = run, workflow, trigger
        self._group, self._runs, self._clock, self._step_runner = group, services.runs, services.clock, step_runner
        self._on_step_started, self._on_step_ended = on_step_started, on_step_ended
        self._stop_request: StopRequest | None = None
        self._changed = asyncio.Event()
        self._deadline: float | None = None
        self.is_stalled = False
        """True if the store failed, so the run must be executed again later."""
        self._work_seconds_left, self._step_started_at = workflow.timeout, 0.0

    @property
    def is_ending(self) -> bool:
        return self._stop_request is not None

    def request_stop(self, stop: StopRequest) -> None:
        # The first reason wins: when a pane closes, its agent ends too, and both are reported.
        self._stop_request = self._stop_request or stop
        self._changed.set()

    def extend_deadline(self, seconds: float | None) -> None:
        """Set the deadline to ``seconds`` from now. None removes it."""
        self._deadline = None if seconds is None else self._clock.monotonic() + seconds
        self._changed.set()

    async def execute(self, steps: Sequence[RunStep]) -> RunEnd | None:
        """Run the work and the cleanup. Return how the run ended; None if it was paused or the store failed."""
        work_steps, end, cleanup_steps = split_journal(steps)
        number = len(work_steps)
        if end is None:
            executor = self._build_executor(work_steps)
            self._work_seconds_left = max(1.0, self.workflow.timeout - sum_work_seconds(work_steps))
            end = await self._run_supervised(self.workflow.run, executor)
            number = executor.step_count
            if end is None or not await self._record_end(executor, end, number):
                return None
        return end if await self._run_cleanup(cleanup_steps, number + 1) else None

    def _build_executor(self, steps: Sequence[RunStep]) -> JournaledExecutor:
        executor = JournaledExecutor(self.run, steps, self._runs.save_step, self._step_runner, self._clock)
        executor.on_step_started, executor.on_step_ended = self._handle_step_started, self._handle_step_ended
        return executor

    async def _run_supervised(self, work: WorkflowFunction, executor: JournaledExecutor) -> RunEnd | None:
        self.extend_deadline(MAX_SECONDS_BETWEEN_STEPS)
        task = self._group.create_task(self._run_workflow(work, executor))
        try:
            stop = await self._watch_task(task)
            if stop is None:
                return task.result()
            executor.close(stop.why)
        finally:
            await self._cancel_task(task)
        if stop.kind == "hold":
            return None
        if stop is self._stop_request:
            return RunEnd(status="cancelled", why=stop.why)
        return RunEnd(status="failed", why=executor.closed_by.message if executor.closed_by else stop.why)

    async def _cancel_task(self, task: "asyncio.Task[RunEnd | None]") -> None:
        # May be called after the work has ended by itself, since cancelling a finished task does nothing.
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
        if not task.done():
            log.error("the workflow %s ignores its cancellation in run %d", self.run.workflow, self.run.id)

    async def _watch_task(self, task: "asyncio.Task[RunEnd | None]") -> StopRequest | None:
        """Return None once the work has ended by itself, or the reason why it must be stopped."""
        async with asyncio.TaskGroup() as group:
            while True:
                # Clear before the checks, so that a change during them ends the wait at once.
                self._changed.clear()
                if task.done():
                    return None
                if self._stop_request is not None:
                    return self._stop_request
                left = None if self._deadline is None else self._deadline - self._clock.monotonic()
                if left is not None and left <= 0:
                    return StopRequest("cancel", "a step hung, or the run exceeded its timeout")
                # Await the injected clock's sleep instead of asyncio's timeout, because tests use a fake clock.
                waits: list[asyncio.Task[Any]] = [group.create_task(self._changed.wait())]
                waits += [] if left is None else [group.create_task(self._clock.sleep(left))]
                await asyncio.wait({task, *waits}, return_when=asyncio.FIRST_COMPLETED)
                for wait in waits:
                    wait.cancel()

    async def _run_workflow(self, work: WorkflowFunction, executor: JournaledExecutor) -> RunEnd | None:
        """Call the workflow's function and return how it ended."""
        try:
            result = await work(Context(self.run, self._trigger, executor))
            executor.check_finished()
            return RunEnd(status="completed", why=redact(_check_result_text(result)))
        except StorageError as error:
            self.is_stalled = True
            log.warning("run %d waits for the store: %s", self.run.id, error.message)
            return None
        # Workflows are third-party code. Any exception ends only the workflow's own run.
        except (Exception, KeyboardInterrupt, SystemExit, asyncio.CancelledError) as error:
            if is_task_cancelled(error):
                raise
            # The workflow may have caught the storage error and raised another one. The first error counts.
            if isinstance(executor.closed_by, StorageError):
                self.is_stalled = True
                return None
            return _build_end_from_error(executor.closed_by or error, self.run)

    async def _record_end(self, executor: JournaledExecutor, end: RunEnd, number: int) -> bool:
        """Store the end as a step, after marking an open step as skipped. Return False if the store failed."""
        now = self._clock.now()
        step = RunStep(
            number=number,
            kind=END_STEP_KIND,
            name=end.status,
            came=encode_redacted(end),
            status="completed",
            at=now,
            ended_at=now,
        )
        try:
            # Close it first, so that no step before the end stays open in the run's history.
            await executor.skip_open_step(end.why)
            await self._runs.save_step(self.run.id, step)
        except StorageError as error:
            self.is_stalled = True
            log.warning("run %d waits for the store: %s", self.run.id, error.message)
            return False
        return True

    async def _run_cleanup(self, steps: Sequence[RunStep], first: int) -> bool:
        """Run the cleanup. A failure is logged and does not change the run's end. Return False if it was stopped."""
        if self.workflow.cleanup is None:
            return True
        # The cleanup also runs after a cancellation, so the request that ended the work must not stop it.
        self._stop_request = None
        executor = self._build_executor(steps)
        # The end itself is a step, so cleanup steps are numbered after it.
        executor.first_step = first
        self._work_seconds_left = CLEANUP_TIMEOUT_S
        end = await self._run_supervised(self.workflow.cleanup, executor)
        if end is not None and end.status != "completed":
            log.warning("the cleanup of run %d (%s) failed: %s", self.run.id, self.run.workflow, end.why)
        return end is not None

    async def _handle_step_started(self, call: WorkflowCall) -> None:
        if get_step_kind(call) in WAITING_STEP_KINDS:
            self.extend_deadline(None)
        else:
            seconds = call.timeout if isinstance(call, WaitFor) else 0.0
            seconds += _compute_retry_seconds(call) if isinstance(call, ActionCall) else 0.0
            self.extend_deadline(min(seconds + STEP_TIMEOUT_S, self._work_seconds_left))
        self._step_started_at = self._clock.monotonic()
        await self._on_step_started(self.run, call)

    async def _handle_step_ended(self, call: WorkflowCall) -> None:
        if get_step_kind(call) not in WAITING_STEP_KINDS:
            self._work_seconds_left -= self._clock.monotonic() - self._step_started_at
        self.extend_deadline(MAX_SECONDS_BETWEEN_STEPS)
        await self._on_step_ended(self.run, call)


def is_task_cancelled(error: BaseException) -> bool:
    """Return True if the current task was cancelled from outside (not by the workflow's own exception)."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _check_result_text(result: object) -> str:
    if result is not None and not isinstance(result, str):
        raise TypeError(f"a workflow returns a text or None, not {type(result).__name__}")
    return result or ""


def _compute_retry_seconds(call: ActionCall) -> float:
    delays = sum(call.retry.compute_delay(attempt) for attempt in range(1, call.retry.times))
    return delays + STEP_TIMEOUT_S * call.retry.times


def _build_end_from_error(error: BaseException, run: Run) -> RunEnd:
    if isinstance(error, StepBack):
        return RunEnd(status="cancelled", why=redact(str(error)))
    # The pane is gone, which is not the workflow's fault.
    if isinstance(error, NotFound):
        return RunEnd(status="cancelled", why=error.message)
    if isinstance(error, NotDone) and (error.status, error.why) in _DECLINED_OUTCOMES:
        return RunEnd(status="cancelled", why=error.message)
    if isinstance(error, Diverged | VisorError):
        return RunEnd(status="failed", why=redact(error.message))
    # An unexpected exception is a bug in the workflow, so its traceback is logged.
    log.error("the workflow %s failed in run %d", run.workflow, run.id, exc_info=error)
    return RunEnd(status="failed", why=redact(f"{type(error).__name__}: {error}".removesuffix(": ")))


_DECLINED_OUTCOMES = {("denied", "denied"), ("denied", "switched_off"), ("denied", "edited")}
"""Status and reason of actions declined by a person or a setting. Such a run is cancelled, not failed."""
