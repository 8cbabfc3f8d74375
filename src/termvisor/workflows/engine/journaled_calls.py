"""Execute the calls of a live run: first replay its journal, then execute new calls.

Invariant: a step is stored before it is executed, and its result before the workflow gets it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import BadRequest, Diverged, NotDone, StateConflict, StorageError, VisorError
from termvisor.model.ids import PaneId
from termvisor.model.workflow import Run, RunId, RunStep
from termvisor.workflows.calls import ActionCall, RetryPolicy, SendTextRequest, WorkflowCall
from termvisor.workflows.engine.journal_replay import (
    InterruptedStep,
    RecordedStep,
    UnrecordedStep,
    decode_result,
    describe_call,
    encode_error,
    encode_redacted,
    find_unreached_step,
    get_step_kind,
    match_step,
)
from termvisor.workflows.results import ActionStepResult, CallResult, WaitResult

# All others need a person or another action, so a retry would only be refused again.
RETRYABLE_REASONS = frozenset(
    {
        "copy_mode",
        "human_typing",
        "input_not_empty",
        "mux_error",
        "not_at_prompt",
        "rate",
        "recent_gap",
        "reserved",
        "stale_snapshot",
    }
)
"""Refusal reasons that may go away by themselves, so the action is retried within its retry policy."""

MAX_STEPS = 2000
"""Maximum steps of one run, because an endless loop would fill the disk."""

StepListener = Callable[[WorkflowCall], Awaitable[None]]
StepSaver = Callable[[RunId, RunStep], Awaitable[None]]
"""Callback that stores a step of a run durably before it returns."""


class StepExecution(Struct, frozen=True, kw_only=True):
    """A step being executed. ``is_resumed``: an earlier daemon started it and may have completed it."""

    run: Run
    step: RunStep
    is_resumed: bool = False
    start_note: str = ""
    """The value that ``prepare_step`` returned when the step started."""

    def require_pane(self) -> PaneId:
        """Return the run's pane. Raises ``BadRequest`` if it has none."""
        if self.run.pane is None:
            raise BadRequest("the run has no pane")
        return self.run.pane


class LastAction(Struct, frozen=True, kw_only=True):
    """The run's latest action. Output after it counts as its response."""

    line: int | None = None
    text: str = ""
    at: int = 0
    signal: int = 0
    """The id of the latest received signal."""


class StepRunner(Protocol):
    async def prepare_step(self, run: Run, call: WorkflowCall, last: LastAction) -> str:
        """Return the data to store when a step starts, so that it can be resumed."""

    async def run_step(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        """Execute the step. Errors are raised in the workflow."""


class JournaledExecutor:
    """``on_step_started`` and ``on_step_ended`` are called around every step that is not replayed."""

    def __init__(self, run: Run, steps: Sequence[RunStep], save_step: StepSaver, step_runner: StepRunner, clock: Clock):
        self._run, self._steps, self._store_step = run, list(steps), save_step
        self._step_runner, self._clock = step_runner, clock
        self._next_step = 0
        self.first_step = 0
        """The number of its first step. Cleanup steps follow the work steps."""
        self._is_busy = False
        self._last_action = LastAction()
        self.closed_by: VisorError | None = None
        """The error that every further call raises."""
        self.on_step_started: StepListener = _skip_step
        self.on_step_ended: StepListener = _skip_step

    async def execute(self, call: WorkflowCall) -> CallResult:
        if self.closed_by is not None:
            await asyncio.sleep(0)  # a workflow that calls in a loop must not block the event loop
            raise self.closed_by
        # A replay could not reproduce the journal order of concurrent calls.
        if self._is_busy:
            why = f"a run takes one step at a time: step {self._next_step} was started before the previous one ended"
            raise self._close_with(Diverged(why, details={"step": self._next_step}))
        if self._next_step >= MAX_STEPS:
            raise self._close_with(StateConflict(f"a run ends after {MAX_STEPS} steps"))
        self._is_busy = True
        try:
            return await self._answer_call(call)
        # After these errors the journal and the workflow no longer agree, so refuse all further calls.
        except (Diverged, StorageError) as error:
            raise self._close_with(error) from error
        finally:
            self._is_busy = False

    def check_finished(self) -> None:
        """Check that the work reached all recorded steps. Raises ``Diverged`` otherwise."""
        if self.closed_by is not None:
            raise self.closed_by
        if (error := find_unreached_step(self._steps, self._next_step)) is not None:
            raise self._close_with(error)

    async def skip_open_step(self, why: str) -> None:
        """Mark the step that is being executed, if any, as skipped."""
        step = next((step for step in self._steps if step.status in ("running", "retry")), None)
        if step is not None:
            await self._save_step(replace(step, status="skipped", why=why, ended_at=self._clock.now()))

    @property
    def step_count(self) -> int:
        return len(self._steps)

    def close(self, why: str) -> None:
        self.closed_by = self.closed_by or Diverged(why)

    def _close_with(self, error: VisorError) -> VisorError:
        self.closed_by = self.closed_by or error
        return self.closed_by

    async def _answer_call(self, call: WorkflowCall) -> CallResult:
        match = match_step(self._steps, self._next_step, call)
        self._next_step += 1
        if isinstance(match, RecordedStep):
            result = self._replay_result(match)
        else:
            result = await self._run_live(call, match)
        self._remember_action(call, result)
        return result

    def _replay_result(self, recorded: RecordedStep) -> CallResult:
        if recorded.error is not None:
            raise recorded.error
        if recorded.result is None:
            raise Diverged("a recorded step has no result")
        return recorded.result

    async def _run_live(self, call: WorkflowCall, matched: UnrecordedStep | InterruptedStep) -> CallResult:
        await self.on_step_started(call)
        try:
            result = await self._run_with_retries(call, await self._begin_step(call, matched))
        # Only expected errors are step results. A cancellation leaves the step open, to be resumed later.
        except VisorError:
            await self.on_step_ended(call)
            raise
        await self.on_step_ended(call)
        return result

    async def _begin_step(self, call: WorkflowCall, matched: UnrecordedStep | InterruptedStep) -> StepExecution:
        if isinstance(matched, InterruptedStep):
            return StepExecution(run=self._run, step=matched.step, is_resumed=True, start_note=matched.step.came)
        step = RunStep(
            number=self.first_step + matched.number,
            kind=get_step_kind(call),
            name=describe_call(call),
            given=encode_redacted(call),
            # Stored with the step, so that a resumed wait starts where the first attempt did.
            came=await self._step_runner.prepare_step(self._run, call, self._last_action),
            at=self._clock.now(),
        )
        await self._save_step(step)
        return StepExecution(run=self._run, step=step, start_note=step.came)

    async def _run_with_retries(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        """Execute the step until it succeeds, fails permanently, or the retry policy is exhausted."""
        retry = call.retry if isinstance(call, ActionCall) else RetryPolicy(times=1)
        while True:
            if execution.step.status == "retry":
                execution = await self._start_next_attempt(execution, retry)
            try:
                result = await self._step_runner.run_step(call, execution)
            except StorageError:
                raise  # the whole run is executed again once the store works
            except NotDone as error:
                if error.why not in RETRYABLE_REASONS or execution.step.attempt >= retry.times:
                    raise await self._fail_step(execution.step, error) from error
                waiting = replace(execution.step, status="retry", why=f"{error.why}: {error.message}")
                await self._save_step(waiting)
                execution = replace(execution, step=waiting, is_resumed=False)
            except VisorError as error:
                raise await self._fail_step(execution.step, error) from error
            else:
                return await self._complete_step(call, execution.step, result)

    async def _start_next_attempt(self, execution: StepExecution, retry: RetryPolicy) -> StepExecution:
        """Wait for the back-off delay, then store the next attempt, which has its own idempotency key."""
        await self._clock.sleep(retry.compute_delay(execution.step.attempt))
        step = replace(execution.step, status="running", attempt=execution.step.attempt + 1)
        await self._save_step(step)
        return replace(execution, step=step, is_resumed=False)

    async def _complete_step(self, call: WorkflowCall, step: RunStep, result: CallResult) -> CallResult:
        # Decode the journaled text, so that the workflow gets the same value now and in a replay.
        text = encode_redacted(result)
        await self._save_step(replace(step, status="completed", came=text, ended_at=self._clock.now()))
        return decode_result(call, text)

    async def _fail_step(self, step: RunStep, error: VisorError) -> VisorError:
        ended = replace(step, status="failed", came=encode_error(error), why=error.message, ended_at=self._clock.now())
        await self._save_step(ended)
        return error

    async def _save_step(self, step: RunStep) -> None:
        await self._store_step(self._run.id, step)
        # Replaces the step at its position, or appends it if it is new.
        self._steps[step.number - self.first_step : step.number - self.first_step + 1] = [step]

    def _remember_action(self, call: WorkflowCall, result: CallResult) -> None:
        if isinstance(call, ActionCall) and isinstance(result, ActionStepResult):
            text = call.wish.text if isinstance(call.wish, SendTextRequest) else ""
            self._last_action = replace(self._last_action, line=result.line, text=text, at=result.at)
        # A received signal is consumed, so the next wait for the same word needs a new signal.
        elif isinstance(result, WaitResult) and result.what == "signal":
            self._last_action = replace(self._last_action, signal=result.event or 0)


async def _skip_step(_call: WorkflowCall) -> None:
    """Do nothing, because a replay outside of the engine tracks no steps."""


def compute_remaining_seconds(execution: StepExecution, seconds: float, now: int) -> float:
    """Return how many of a step's ``seconds`` remain since it was first started, across restarts.

    Setting the clock back yields at most ``seconds``; setting it forward ends the step early.
    """
    return min(seconds, max(0.0, seconds - (now - execution.step.at) / NS))
