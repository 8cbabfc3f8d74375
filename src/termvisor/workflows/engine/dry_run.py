"""A rehearsal: a workflow runs against the live pane, and nothing is done. What it waits for is taken for granted."""

import asyncio
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import Clock
from termvisor.errors import Conflict, VisorError
from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow.info import DryRunStep
from termvisor.model.workflow.run import Run, RunStep
from termvisor.workflows.calls import (
    ActionCall,
    ActionStepResult,
    AskPersonCall,
    CallResult,
    ClockCall,
    ClockReading,
    EmptyResult,
    NoteCall,
    Observation,
    PauseCall,
    PauseResult,
    PersonAnswer,
    SessionRecord,
    SessionUpdateCall,
    SleepUntilCall,
    WaitFor,
    WaitResult,
    WorkflowCall,
)
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import describe_call, encode_call, get_step_kind
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.engine.run_task import is_task_cancelled
from termvisor.workflows.engine.services import GateAccess
from termvisor.workflows.steps.act import build_actor, needs_approval
from termvisor.workflows.steps.dispatch import StepDispatcher
from termvisor.workflows.workflow import Workflow

_MAX_STEPS = 100
_TIMEOUT_S = 20.0
log = get_logger("workflow")


class DryRunExecutor:
    def __init__(self, run: Run, step_runner: StepDispatcher, gate: GateAccess, clock: Clock):
        self._run, self._step_runner, self._gate, self._clock = run, step_runner, gate, clock
        self._simulated_now = clock.now()
        self._assumed_fields: dict[str, Any] = {}
        """What of the pane is as it was waited for: whoever looks then sees it so."""
        self.steps: list[DryRunStep] = []

    async def execute(self, call: WorkflowCall) -> CallResult:
        if len(self.steps) >= _MAX_STEPS:
            await asyncio.sleep(0)  # one that goes on all the same keeps nobody else from their work
            raise Conflict(f"a rehearsal ends after {_MAX_STEPS} steps")
        step = DryRunStep(
            number=len(self.steps), kind=get_step_kind(call), name=describe_call(call), given=encode_call(call)
        )
        if isinstance(call, ActionCall):
            return await self._preview_action(call, step)
        came, assumed = self._assume_result(call)
        self._add_step(step, assumed=assumed)
        if came is not None:
            return came
        seen = await self._step_runner.run_step(call, self._build_execution())
        return replace(seen, **self._assumed_fields) if isinstance(seen, Observation) else seen

    async def _preview_action(self, call: ActionCall, step: DryRunStep) -> ActionStepResult:
        try:
            action, terms = await self._step_runner.action_steps.build_action(self._run, call)
            asks = self._step_runner.action_steps.get_effective_mode(self._run) == "ask" and needs_approval(action)
            wanted = replace(terms, asks=asks)
            verdict, refused = await self._gate.preview(action, build_actor(self._run), wanted)
        except VisorError as error:
            self._add_step(step, refused=error.message)
        else:
            self._add_step(step, verdict=verdict, refused=refused)
        return ActionStepResult(status="delivered", why="rehearsed", at=self._simulated_now)

    def _assume_result(self, call: WorkflowCall) -> tuple[CallResult | None, str]:
        """What is taken for granted; None where the world itself is looked at."""
        if isinstance(call, WaitFor):
            self._assumed_fields |= _build_assumed_fields(call)
            return _build_wait_result(call), "it comes"
        if isinstance(call, AskPersonCall):
            return PersonAnswer(choice=call.choices[0], why="rehearsed"), f"a person says {call.choices[0]}"
        if isinstance(call, SleepUntilCall | PauseCall):
            until = call.at if isinstance(call, SleepUntilCall) else call.until
            self._simulated_now = max(self._simulated_now, until or self._simulated_now)
            return ClockReading(at=self._simulated_now) if isinstance(call, SleepUntilCall) else PauseResult(
                why="due"
            ), "the time passes"
        if isinstance(call, ClockCall):
            return ClockReading(at=self._simulated_now), ""
        if isinstance(call, SessionUpdateCall):
            return SessionRecord(id=call.session), "it is put on record"
        return (EmptyResult(), "") if isinstance(call, NoteCall) else (None, "")

    def _build_execution(self) -> StepExecution:
        return StepExecution(
            run=self._run, step=RunStep(number=len(self.steps), kind="rehearsal", at=self._simulated_now)
        )

    def _add_step(self, step: DryRunStep, **more: object) -> None:
        self.steps.append(replace(step, **more))


class DryRunReport(Struct, frozen=True):
    steps: tuple[DryRunStep, ...]
    why: str


async def dry_run_workflow(
    workflow: Workflow, executor: DryRunExecutor, run: Run, trigger: Detection | None = None
) -> DryRunReport:
    """All steps that it would take, and how it would end."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            told = await workflow.run(Context(run, trigger, executor))
        why = str(told or "it would end here")
    except StepBack as error:
        why = f"it would step back: {error}"
    except TimeoutError:
        why = f"it took longer than {_TIMEOUT_S:g} s"
    except VisorError as error:
        why = f"it would end here: {error.message}"
    except (Exception, KeyboardInterrupt, SystemExit, asyncio.CancelledError) as error:  # workflows are foreign code
        if is_task_cancelled(error):
            raise
        log.error("the workflow %s failed in a rehearsal", workflow.name, exc_info=error)
        why = f"it would fail: {type(error).__name__}: {error}".removesuffix(": ")
    return DryRunReport(tuple(executor.steps), why)


def _build_assumed_fields(call: WaitFor) -> dict[str, Any]:
    if call.state:
        return {"state": call.state[0]}
    if call.prompt:
        return {"activity": "prompt", "is_alternate": False}
    return {call.cleared: False} if call.cleared else {}


def _build_wait_result(call: WaitFor) -> WaitResult:
    text = call.text or call.pattern or call.rule or call.signal or "".join(call.state[:1])
    return msgspec.convert({"what": describe_call(call), "text": text}, WaitResult)
