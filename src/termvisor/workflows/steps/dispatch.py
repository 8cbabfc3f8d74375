"""Carries steps out: each kind of call has one function here that does it, or hands it on."""

from collections.abc import Awaitable, Callable

from termvisor.errors import BadRequest, TimedOut
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
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
"""Why a question has no answer: what it was about is settled."""


class StepDispatcher:
    def __init__(self, services: StepServices):
        self._services, self._clock = services, services.clock
        self.action_steps = ActionSteps(services.gate, services.panes, services.signals, services.modes)
        self._wait_steps = WaitSteps(services.panes, services.detections, services.signals, services.clock)
        self._sleep_steps, self._lookup_steps = SleepSteps(services), LookupSteps(services)

    async def prepare_step(self, run: Run, call: WorkflowCall, last: LastAction) -> str:
        return await self._wait_steps.encode_baseline(run, call, last) if isinstance(call, WaitFor) else ""

    async def run_step(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        takers: dict[type, Callable[..., Awaitable[CallResult]]] = {
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
        return await takers[type(call)](call, execution)

    async def _observe(self, call: ObserveCall, going: StepExecution) -> Observation:
        return await self._services.panes.observe(_require_pane(going), call.lines)

    async def _ask(self, call: AskPersonCall, going: StepExecution) -> CallResult:
        asking = self.action_steps.ask_person(call, going, self._clock.now())
        if call.unless is None:
            return await asking
        came = await race(asking, self._wait_until_settled(call.unless, going))
        if came.why == QUESTION_SETTLED:
            await self._services.gate.withdraw_approvals(build_correlation(going))
        return came

    async def _wait_until_settled(self, condition: WaitFor, going: StepExecution) -> PersonAnswer:
        """Until the question need not be answered any more; what does not come leaves it open."""
        while True:
            try:
                await self._wait_steps.wait(condition, going)
            except TimedOut:
                await self._clock.sleep(condition.timeout)
            else:
                return PersonAnswer(why=QUESTION_SETTLED)

    async def _select_account(self, call: SelectAccountCall, going: StepExecution) -> AccountSelection:
        run = going.run
        return await self._services.account_selector.select(run.pane, run.agent, call.service)

    async def _add_note(self, _call: NoteCall, _going: StepExecution) -> EmptyResult:
        return EmptyResult()

    async def _read_clock(self, _call: ClockCall, _going: StepExecution) -> ClockReading:
        return ClockReading(at=self._clock.now())

    async def _sleep_until(self, call: SleepUntilCall, _going: StepExecution) -> ClockReading:
        return await self._sleep_steps.sleep_until(call.at)

    async def _read_preferences(self, call: PreferencesCall, going: StepExecution) -> PreferenceValues:
        run = going.run
        view = None if run.pane is None else await self._services.panes.find_pane(run.pane)
        return await self._services.preferences.read_preferences(call.names, run.agent, view)

    async def _check_trigger(self, call: TriggerCheckCall, going: StepExecution) -> TriggerCheckResult:
        run = going.run
        seen = await self._services.panes.observe(_require_pane(going), call.lines)
        if call.text:
            return _build_check_result(any(call.text in row for row in (*seen.lines, *seen.screen)), "the text")
        if run.event is None:
            return TriggerCheckResult(is_so=True, why="no event started it")
        found = await self._services.detections.find_detection(run.event)
        return (
            TriggerCheckResult(is_so=False, why="the event is no longer kept")
            if found is None
            else check_detection_visible(found, seen, call.lines)
        )


def check_detection_visible(detection: Detection, observation: Observation, lines: int) -> TriggerCheckResult:
    """Whether a pane still shows what was detected in it. Pure; what cannot be told is not so."""
    if detection.runtime is not None and observation.runtime is not None and detection.runtime != observation.runtime:
        return TriggerCheckResult(is_so=False, why="another agent is in the pane now")
    flag = detection.rule.removeprefix("signal.")
    if detection.rule == "signal.compacting":  # it tells that one has ended, so the flag is gone
        return TriggerCheckResult(is_so=not observation.compacting, why="the agent said so itself")
    if detection.source == "signal":
        return _build_check_result(bool(getattr(observation, flag, False)), f"the flag {flag}")
    line = detection.evidence.get("line")
    if isinstance(line, int) and line and observation.line - line <= lines:
        return TriggerCheckResult(is_so=True, why=f"it stands {max(0, observation.line - line)} lines above the last")
    rows = [" ".join(row.split()) for row in (*observation.lines, *observation.screen)]
    parts = [part for row in detection.context.splitlines() if len(part := " ".join(row.split())) > 3]
    return _build_check_result(any(part in row for part in parts for row in rows), "the text")


def _build_check_result(is_so: bool, what: str) -> TriggerCheckResult:
    return TriggerCheckResult(is_so=is_so, why=f"{what} is {'still there' if is_so else 'no longer there'}")


def _require_pane(execution: StepExecution) -> PaneId:
    if execution.run.pane is None:
        raise BadRequest("the run has no pane")
    return execution.run.pane
