"""Run a workflow against the live pane without executing actions, assuming that everything it waits for happens."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.clock import Clock
from termvisor.errors import NotDone, StateConflict, VisorError
from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow import DryRunStep, Run, RunStep
from termvisor.workflows import calls, results
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import describe_call, encode_redacted, get_step_kind
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.engine.run_task import is_task_cancelled
from termvisor.workflows.engine.services import GateAccess
from termvisor.workflows.steps.act import build_actor, needs_approval
from termvisor.workflows.steps.dispatch import StepDispatcher
from termvisor.workflows.workflow import Workflow

# Ends a workflow that loops forever because everything it waits for is assumed to happen.
_MAX_STEPS = 100
# Limited, because the client is waiting for the answer.
_TIMEOUT_S = 20.0
log = get_logger("workflow")


class DryRunExecutor:
    def __init__(self, run: Run, step_runner: StepDispatcher, gate: GateAccess, clock: Clock):
        self._run, self._step_runner, self._gate, self._clock = run, step_runner, gate, clock
        self._simulated_now = clock.now()
        self._assumed_fields: dict[str, Any] = {}
        """Field values the workflow has waited for, which overwrite those of later observations."""
        self.steps: list[DryRunStep] = []

    async def execute(self, call: calls.WorkflowCall) -> results.CallResult:
        if len(self.steps) >= _MAX_STEPS:
            await asyncio.sleep(0)  # a workflow that ignores the error in a loop must not block the event loop
            raise StateConflict(f"a dry run ends after {_MAX_STEPS} steps")
        step = DryRunStep(
            number=len(self.steps), kind=get_step_kind(call), name=describe_call(call), given=encode_redacted(call)
        )
        if isinstance(call, calls.ActionCall):
            return await self._preview_action(call, step)
        result, assumed = self._assume_result(call)
        self._add_step(step, assumed=assumed)
        if result is not None:
            return result
        # Read-only steps are executed for real, but not stored.
        dry_step = RunStep(number=len(self.steps), kind="rehearsal", at=self._simulated_now)
        result = await self._step_runner.run_step(call, StepExecution(run=self._run, step=dry_step))
        return replace(result, **self._assumed_fields) if isinstance(result, results.Observation) else result

    async def _preview_action(self, call: calls.ActionCall, step: DryRunStep) -> results.ActionStepResult:
        try:
            action, preconditions = await self._step_runner.action_steps.build_action(self._run, call)
            asks = self._step_runner.action_steps.get_effective_mode(self._run) == "ask" and needs_approval(action)
            preconditions = replace(preconditions, asks=asks)
            verdict, refused, is_lasting = await self._gate.preview(action, build_actor(self._run), preconditions)
        except VisorError as error:
            self._add_step(step, refused=error.message)
        else:
            self._add_step(step, verdict=verdict, refused=refused, ends_run=is_lasting)
            # Other preconditions may hold by the time of the step; a text stays as it is.
            if is_lasting:
                raise NotDone(f"{step.name} is refused: {refused}", details={"status": "refused"})
        return results.ActionStepResult(status="delivered", why="rehearsed", at=self._simulated_now)

    def _assume_result(self, call: calls.WorkflowCall) -> tuple[results.CallResult | None, str]:
        """Return the assumed result and its description. The result is None for calls that read the live pane."""
        if isinstance(call, calls.WaitFor):
            # Without this, a loop that observes until the state is reached would never end.
            self._assumed_fields |= _build_assumed_fields(call)
            return _build_wait_result(call), "it happens"
        if isinstance(call, calls.AskPersonCall):
            return results.PersonAnswer(choice=call.choices[0], why="rehearsed"), f"a person answers {call.choices[0]}"
        if isinstance(call, calls.SleepUntilCall | calls.PauseCall):
            until = call.at if isinstance(call, calls.SleepUntilCall) else call.until
            self._simulated_now = max(self._simulated_now, until or self._simulated_now)
            is_sleep = isinstance(call, calls.SleepUntilCall)
            return results.ClockReading(at=self._simulated_now) if is_sleep else results.PauseResult(
                why="due"
            ), "the time passes"
        if isinstance(call, calls.ClockCall):
            return results.ClockReading(at=self._simulated_now), ""
        if isinstance(call, calls.SessionUpdateCall):
            return results.SessionRecord(id=call.session), "it is stored"
        return (results.EmptyResult(), "") if isinstance(call, calls.NoteCall) else (None, "")

    def _add_step(self, step: DryRunStep, **fields: object) -> None:
        self.steps.append(replace(step, **fields))


async def dry_run_workflow(
    workflow: Workflow, executor: DryRunExecutor, run: Run, trigger: Detection | None = None
) -> tuple[Sequence[DryRunStep], str]:
    """Return all steps that the workflow would take, and how it would end."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            result = await workflow.run(Context(run, trigger, executor))
        why = str(result or "it would end here")
    except StepBack as error:
        why = f"it would step back: {error}"
    except TimeoutError:
        why = f"timed out after {_TIMEOUT_S:g} s"
    except VisorError as error:
        why = f"it would end here: {error.message}"
    except (
        Exception,
        KeyboardInterrupt,
        SystemExit,
        asyncio.CancelledError,
    ) as error:  # workflows are third-party code
        if is_task_cancelled(error):
            raise
        log.error("the workflow %s failed in a dry run", workflow.name, exc_info=error)
        why = f"it would fail: {type(error).__name__}: {error}".removesuffix(": ")
    return tuple(executor.steps), why


def _build_assumed_fields(call: calls.WaitFor) -> dict[str, Any]:
    if call.state:
        return {"state": call.state[0]}
    if call.prompt:
        return {"activity": "prompt", "is_alternate": False}
    return {call.cleared: False} if call.cleared else {}


def _build_wait_result(call: calls.WaitFor) -> results.WaitResult:
    text = call.text or call.pattern or call.rule or call.signal or "".join(call.state[:1])
    return msgspec.convert({"what": describe_call(call), "text": text}, results.WaitResult)
