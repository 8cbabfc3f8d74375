"""How the calls of a live run are answered: by its journal as far as that goes, then by the world.

Invariant: a step is on record before it is taken, and its outcome before the workflow hears of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import Conflict, Diverged, NotDone, StorageError, VisorError
from termvisor.model.workflow.run import Run, RunId, RunStep
from termvisor.workflows.calls import (
    ActionCall,
    ActionStepResult,
    CallResult,
    RetryPolicy,
    SendTextRequest,
    WaitResult,
    WorkflowCall,
)
from termvisor.workflows.engine.journal_replay import (
    InterruptedStep,
    RecordedStep,
    UnrecordedStep,
    decode_result,
    describe_call,
    encode_call,
    encode_error,
    encode_redacted,
    find_unreached_step,
    get_step_kind,
    match_step,
)

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
"""Reasons against an act that may pass by themselves: it is tried again, within its budget."""


MAX_STEPS = 2000
"""In one run: a loop without an end would fill the disk."""


class StepJournal(Protocol):
    async def save_step(self, run: RunId, step: RunStep) -> None:
        """On disk when it returns."""


class StepExecution(Struct, frozen=True, kw_only=True):
    """A step on its way. ``is_resumed``: an earlier daemon began it, and may have done it."""

    run: Run
    step: RunStep
    is_resumed: bool = False
    start_note: str = ""
    """What was noted when it began."""


class LastAction(Struct, frozen=True, kw_only=True):
    """The newest act of the run: what was printed after it is its answer."""

    line: int | None = None
    text: str = ""
    at: int = 0
    signal: int = 0
    """The newest signal that was waited for and came."""


class StepRunner(Protocol):
    """What carries a step out."""

    async def prepare_step(self, run: Run, call: WorkflowCall, last: LastAction) -> str:
        """What must be noted when a step begins, so that it can be gone on with."""

    async def run_step(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        """Do it; raises what the workflow is to hear."""


class JournaledExecutor:
    """``begins`` and ``ends`` are told around every step that is really taken."""

    def __init__(self, run: Run, steps: Sequence[RunStep], journal: StepJournal, step_runner: StepRunner, clock: Clock):
        self._run, self._steps, self._journal = run, list(steps), journal
        self._step_runner, self._clock = step_runner, clock
        self._next_step = 0
        self.first_step = 0
        """The number of its first step; the cleanup's come after the work's."""
        self._is_busy = False
        self._last_action = LastAction()
        self.closed_by: VisorError | None = None
        """Why nothing more is answered."""
        self.on_step_started: Callable[[WorkflowCall], Awaitable[None]] | None = None
        self.on_step_ended: Callable[[WorkflowCall], Awaitable[None]] | None = None

    async def execute(self, call: WorkflowCall) -> CallResult:
        if self.closed_by is not None:
            await asyncio.sleep(0)  # one that asks again and again keeps nobody else from their work
            raise self.closed_by
        if self._is_busy:
            why = (
                f"a run wants one thing at a time: step {self._next_step} was wanted before the one before it was over"
            )
            raise self._close_with(Diverged(why, details={"step": self._next_step}))
        if self._next_step >= MAX_STEPS:
            raise self._close_with(Conflict(f"a run ends after {MAX_STEPS} steps"))
        self._is_busy = True
        try:
            return await self._answer_call(call)
        except (Diverged, StorageError) as error:
            raise self._close_with(error) from error
        finally:
            self._is_busy = False

    def check_finished(self) -> None:
        """The work is over. Raises ``Diverged`` where the journal knows more steps."""
        if self.closed_by is not None:
            raise self.closed_by
        if (error := find_unreached_step(self._steps, self._next_step)) is not None:
            raise self._close_with(error)

    async def skip_open_step(self, why: str) -> None:
        """The step under way, if there is one, is left as it is."""
        step = next((one for one in self._steps if one.status in ("running", "retry")), None)
        if step is not None:
            await self._save_step(replace(step, status="skipped", why=why, ended_at=self._clock.now()))

    @property
    def step_count(self) -> int:
        """How many steps there are by now."""
        return len(self._steps)

    def close(self, why: str) -> None:
        self.closed_by = self.closed_by or Diverged(why)

    def _close_with(self, error: VisorError) -> VisorError:
        self.closed_by = self.closed_by or error
        return self.closed_by

    async def _answer_call(self, call: WorkflowCall) -> CallResult:
        found = match_step(self._steps, self._next_step, call)
        self._next_step += 1
        if isinstance(found, RecordedStep):
            came = self._replay_result(found)
        else:
            came = await self._run_live(call, found)
        self._remember_action(call, came)
        return came

    def _replay_result(self, recorded: RecordedStep) -> CallResult:
        if recorded.error is not None:
            raise recorded.error
        if recorded.result is None:
            raise Diverged("a step without an answer")
        return recorded.result

    async def _run_live(self, call: WorkflowCall, matched: UnrecordedStep | InterruptedStep) -> CallResult:
        if self.on_step_started is not None:
            await self.on_step_started(call)
        try:
            came = await self._run_with_retries(call, await self._begin_step(call, matched))
        except VisorError:
            await self._report_step_ended(call)
            raise
        await self._report_step_ended(call)
        return came

    async def _report_step_ended(self, call: WorkflowCall) -> None:
        if self.on_step_ended is not None:
            await self.on_step_ended(call)

    async def _begin_step(self, call: WorkflowCall, matched: UnrecordedStep | InterruptedStep) -> StepExecution:
        if isinstance(matched, InterruptedStep):
            return StepExecution(run=self._run, step=matched.step, is_resumed=True, start_note=matched.step.came)
        step = RunStep(
            number=self.first_step + matched.number,
            kind=get_step_kind(call),
            name=describe_call(call),
            given=encode_call(call),
            came=await self._step_runner.prepare_step(self._run, call, self._last_action),
            at=self._clock.now(),
        )
        await self._save_step(step)
        return StepExecution(run=self._run, step=step, start_note=step.came)

    async def _run_with_retries(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        """Until it is done, or the budget for trying again is spent."""
        retry = call.retry if isinstance(call, ActionCall) else RetryPolicy(times=1)
        while True:
            if execution.step.status == "retry":
                execution = await self._start_next_attempt(execution, retry)
            try:
                came = await self._step_runner.run_step(call, execution)
            except StorageError:
                raise
            except NotDone as error:
                if error.why not in RETRYABLE_REASONS or execution.step.attempt >= retry.times:
                    raise await self._fail_step(execution.step, error) from error
                waiting = replace(execution.step, status="retry", why=f"{error.why}: {error.message}")
                await self._save_step(waiting)
                execution = replace(execution, step=waiting, is_resumed=False)
            except VisorError as error:
                raise await self._fail_step(execution.step, error) from error
            else:
                return await self._complete_step(call, execution.step, came)

    async def _start_next_attempt(self, execution: StepExecution, retry: RetryPolicy) -> StepExecution:
        """The back-off, then the next attempt: it is on record before it is made, and has a key of its own."""
        await self._clock.sleep(retry.compute_delay(execution.step.attempt))
        step = replace(execution.step, status="running", attempt=execution.step.attempt + 1)
        await self._save_step(step)
        return replace(execution, step=step, is_resumed=False)

    async def _complete_step(self, call: WorkflowCall, step: RunStep, result: CallResult) -> CallResult:
        """What the workflow sees is what the journal will tell it again."""
        text = encode_redacted(result)
        await self._save_step(replace(step, status="completed", came=text, ended_at=self._clock.now()))
        return decode_result(call, text)

    async def _fail_step(self, step: RunStep, error: VisorError) -> VisorError:
        ended = replace(step, status="failed", came=encode_error(error), why=error.message, ended_at=self._clock.now())
        await self._save_step(ended)
        return error

    async def _save_step(self, step: RunStep) -> None:
        await self._journal.save_step(self._run.id, step)
        self._steps[step.number - self.first_step : step.number - self.first_step + 1] = [step]

    def _remember_action(self, call: WorkflowCall, result: CallResult) -> None:
        if isinstance(call, ActionCall) and isinstance(result, ActionStepResult):
            text = call.wish.text if isinstance(call.wish, SendTextRequest) else ""
            self._last_action = replace(self._last_action, line=result.line, text=text, at=result.at)
        elif isinstance(result, WaitResult) and result.what == "signal":
            self._last_action = replace(self._last_action, signal=result.event or 0)


def compute_remaining_seconds(execution: StepExecution, seconds: float, now: int) -> float:
    """How long a step that may take so many seconds still may, by the journal's own time.

    A clock that was set back gives it no more than that; one that was set on ends it early.
    """
    return min(seconds, max(0.0, seconds - (now - execution.step.at) / NS))
