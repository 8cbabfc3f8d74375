"""Execute a step: dispatch each kind of call to the function that implements it."""

from collections.abc import Awaitable, Callable

from termvisor.errors import TimedOut
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow.run import Run
from termvisor.workflows.account_failover import AccountSelection, SelectAccountCall
from termvisor.workflows.calls import (
    ActionCall,
    AskPersonCall,
    CallResult,
    ClockCall,
    ClockReading,
    EmptyResult,
    LastSessionCall,
    NoteCall,
    Observation,
    ObserveCall,
    PauseCall,
    PersonAnswer,
    PreferencesCall,
    PreferenceValues,
    RecallCall,
    SearchCodeCall,
    SessionUpdateCall,
    SleepUntilCall,
    TriggerCheckCall,
    TriggerCheckResult,
    WaitFor,
    WorkflowCall,
)
from termvisor.workflows.engine.journaled_calls import LastAction, StepExecution
from termvisor.workflows.engine.services import StepServices
from termvisor.workflows.steps.act import ActionSteps, build_correlation
from termvisor.workflows.steps.lookups import LookupSteps
from termvisor.workflows.steps.race import race
from termvisor.workflows.steps.sleep import SleepSteps
from termvisor.workflows.steps.wait import WaitSteps

QUESTION_SETTLED = "needless"
"""The reason of an empty answer: the question was settled before a person answered."""


class StepDispatcher:
    def __init__(self, services: StepServices):
        self._services, self._clock = services, services.clock
        self.action_steps = ActionSteps(services.gate, services.panes, services.signals, services.modes)
        self._wait_steps = WaitSteps(services.panes, services.detections, services.signals, services.clock)
        self._sleep_steps, self._lookup_steps = SleepSteps(services), LookupSteps(services)

    async def prepare_step(self, run: Run, call: WorkflowCall, last: LastAction) -> str:
        return await self._wait_steps.encode_baseline(run, call, last) if isinstance(call, WaitFor) else ""

    async def run_step(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        handlers: dict[type, Callable[..., Awaitable[CallResult]]] = {
            ObserveCall: self._observe,
            WaitFor: self._wait_steps.wait,
            ActionCall: self.action_steps.run_action,
            AskPersonCall: self._ask,
            SleepUntilCall: self._sleep_until,
            PauseCall: self._sleep_steps.pause,
            TriggerCheckCall: self._check_trigger,
            PreferencesCall: self._read_preferences,
            RecallCall: self._lookup_steps.recall_detections,
            LastSessionCall: self._lookup_steps.find_last_session,
            SessionUpdateCall: self._lookup_steps.update_session,
            SearchCodeCall: self._lookup_steps.search_code,
            SelectAccountCall: self._select_account,
            NoteCall: self._add_note,
            ClockCall: self._read_clock,
        }
        return await handlers[type(call)](call, execution)

    async def _observe(self, call: ObserveCall, execution: StepExecution) -> Observation:
        return await self._services.panes.observe(execution.require_pane(), call.lines)

    async def _ask(self, call: AskPersonCall, execution: StepExecution) -> CallResult:
        asking = self.action_steps.ask_person(call, execution, self._clock.now())
        if call.unless is None:
            return await asking
        answer = await race(asking, self._wait_until_settled(call.unless, execution))
        if answer.why == QUESTION_SETTLED:
            await self._services.gate.withdraw_approvals(build_correlation(execution))
        return answer

    async def _wait_until_settled(self, condition: WaitFor, execution: StepExecution) -> PersonAnswer:
        """Return once the condition is met; a timeout of the condition leaves the question open."""
        while True:
            try:
                await self._wait_steps.wait(condition, execution)
            except TimedOut:
                await self._clock.sleep(condition.timeout)
            else:
                return PersonAnswer(why=QUESTION_SETTLED)

    async def _select_account(self, call: SelectAccountCall, execution: StepExecution) -> AccountSelection:
        run = execution.run
        return await self._services.account_selector.select(run.pane, run.agent, call.service)

    async def _add_note(self, _call: NoteCall, _execution: StepExecution) -> EmptyResult:
        return EmptyResult()

    async def _read_clock(self, _call: ClockCall, _execution: StepExecution) -> ClockReading:
        return ClockReading(at=self._clock.now())

    async def _sleep_until(self, call: SleepUntilCall, _execution: StepExecution) -> ClockReading:
        return await self._sleep_steps.sleep_until(call.at)

    async def _read_preferences(self, call: PreferencesCall, execution: StepExecution) -> PreferenceValues:
        run = execution.run
        view = None if run.pane is None else await self._services.panes.find_pane(run.pane)
        return await self._services.preferences.read_preferences(call.names, run.agent, view)

    async def _check_trigger(self, call: TriggerCheckCall, execution: StepExecution) -> TriggerCheckResult:
        run = execution.run
        observation = await self._services.panes.observe(execution.require_pane(), call.lines)
        if call.text:
            rows = (*observation.lines, *observation.screen)
            return _build_check_result(any(call.text in row for row in rows), "the text")
        if run.event is None:
            return TriggerCheckResult(is_so=True, why="the run was not started by an event")
        detection = await self._services.detections.find_detection(run.event)
        if detection is None:
            return TriggerCheckResult(is_so=False, why="the event is no longer stored")
        return check_detection_visible(detection, observation, call.lines)


def check_detection_visible(detection: Detection, observation: Observation, lines: int) -> TriggerCheckResult:
    """Check whether a pane still shows what was detected in it; False if that is unknown. Pure."""
    if detection.runtime is not None and observation.runtime is not None and detection.runtime != observation.runtime:
        return TriggerCheckResult(is_so=False, why="another agent runs in the pane now")
    flag = detection.rule.removeprefix("signal.")
    if detection.rule == "signal.compacting":  # this event reports the end of a compaction, so the flag is cleared
        return TriggerCheckResult(is_so=not observation.compacting, why="the agent reported it")
    if detection.source == "signal":
        return _build_check_result(bool(getattr(observation, flag, False)), f"the flag {flag}")
    line = detection.evidence.get("line")
    if isinstance(line, int) and line and observation.line - line <= lines:
        return TriggerCheckResult(is_so=True, why=f"it is {max(0, observation.line - line)} lines above the last")
    rows = [" ".join(row.split()) for row in (*observation.lines, *observation.screen)]
    parts = [part for row in detection.context.splitlines() if len(part := " ".join(row.split())) > 3]
    return _build_check_result(any(part in row for part in parts for row in rows), "the text")


def _build_check_result(is_so: bool, what: str) -> TriggerCheckResult:
    return TriggerCheckResult(is_so=is_so, why=f"{what} is {'still there' if is_so else 'no longer there'}")
