"""Execute a step: dispatch each kind of call to its implementation. Lookups are implemented here."""

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase

from termvisor.clock import NS
from termvisor.errors import TimedOut
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow import Run
from termvisor.workflows import calls, results
from termvisor.workflows.engine.journaled_calls import LastAction, StepExecution
from termvisor.workflows.engine.services import WorkflowServices
from termvisor.workflows.steps.act import ActionSteps, build_actor, build_correlation
from termvisor.workflows.steps.wait import SleepSteps, WaitSteps, race

QUESTION_SETTLED = "needless"
"""The reason for an empty answer: the question became obsolete before a person answered."""


class StepDispatcher:
    def __init__(self, services: WorkflowServices):
        self._services, self._clock = services, services.clock
        self.action_steps = ActionSteps(services)
        self._wait_steps, self._sleep_steps = WaitSteps(services), SleepSteps(services)

    async def prepare_step(self, run: Run, call: calls.WorkflowCall, last: LastAction) -> str:
        return await self._wait_steps.encode_baseline(run, call, last) if isinstance(call, calls.WaitFor) else ""

    async def run_step(self, call: calls.WorkflowCall, execution: StepExecution) -> results.CallResult:
        handlers: dict[type, Callable[..., Awaitable[results.CallResult]]] = {
            calls.ObserveCall: self._observe,
            calls.WaitFor: self._wait_steps.wait,
            calls.ActionCall: self.action_steps.run_action,
            calls.AskPersonCall: self._ask,
            calls.SleepUntilCall: self._sleep_until,
            calls.PauseCall: self._sleep_steps.pause,
            calls.TriggerCheckCall: self._check_trigger,
            calls.PreferencesCall: self._read_preferences,
            calls.RecallCall: self._recall_detections,
            calls.LastSessionCall: self._find_last_session,
            calls.SessionUpdateCall: self._update_session,
            calls.SearchCodeCall: self._search_code,
            calls.SelectAccountCall: self._select_account,
            calls.NoteCall: self._add_note,
            calls.ClockCall: self._read_clock,
        }
        return await handlers[type(call)](call, execution)

    async def _observe(self, call: calls.ObserveCall, execution: StepExecution) -> results.Observation:
        return await self._services.panes.observe(execution.require_pane(), call.lines)

    async def _ask(self, call: calls.AskPersonCall, execution: StepExecution) -> results.CallResult:
        asking = self.action_steps.ask_person(call, execution, self._clock.now())
        if call.unless is None:
            return await asking
        answer = await race(asking, self._wait_until_settled(call.unless, execution))
        # Otherwise the request would stay in the inbox although its question is obsolete.
        if answer.why == QUESTION_SETTLED:
            await self._services.gate.withdraw_approvals(build_correlation(execution))
        return answer

    async def _wait_until_settled(self, condition: calls.WaitFor, execution: StepExecution) -> results.PersonAnswer:
        """Return once the condition is met. If the condition times out, keep the question open."""
        while True:
            try:
                await self._wait_steps.wait(condition, execution)
            # The condition may still be met later. Only the question's own expiry ends the wait.
            except TimedOut:
                await self._clock.sleep(condition.timeout)
            else:
                return results.PersonAnswer(why=QUESTION_SETTLED)

    async def _select_account(
        self, call: calls.SelectAccountCall, execution: StepExecution
    ) -> results.AccountSelection:
        run = execution.run
        return await self._services.select_account(run.pane, run.agent, call.service)

    async def _add_note(self, _call: calls.NoteCall, _execution: StepExecution) -> results.EmptyResult:
        # The journal entry of the call is the note.
        return results.EmptyResult()

    async def _read_clock(self, _call: calls.ClockCall, _execution: StepExecution) -> results.ClockReading:
        return results.ClockReading(at=self._clock.now())

    async def _sleep_until(self, call: calls.SleepUntilCall, _execution: StepExecution) -> results.ClockReading:
        return await self._sleep_steps.sleep_until(call.at)

    async def _read_preferences(
        self, call: calls.PreferencesCall, execution: StepExecution
    ) -> results.PreferenceValues:
        run = execution.run
        view = None if run.pane is None else await self._services.panes.find_pane(run.pane)
        return await self._services.read_preferences(call.names, run.agent, view)

    async def _check_trigger(
        self, call: calls.TriggerCheckCall, execution: StepExecution
    ) -> results.TriggerCheckResult:
        run = execution.run
        observation = await self._services.panes.observe(execution.require_pane(), call.lines)
        if call.text:
            rows = (*observation.lines, *observation.screen)
            return _build_check_result(any(call.text in row for row in rows), "the text")
        if run.event is None:
            return results.TriggerCheckResult(is_so=True, why="the run was not started by an event")
        detection = await self._services.detections.find(run.event)
        if detection is None:
            return results.TriggerCheckResult(is_so=False, why="the event is no longer stored")
        return check_detection_visible(detection, observation, call.lines)

    async def _recall_detections(self, call: calls.RecallCall, execution: StepExecution) -> results.RecallResult:
        since = self._clock.now() - int(call.within * NS)
        detections = await self._services.list_recent_detections(execution.require_pane(), since)
        matching = (detection for detection in detections if fnmatchcase(detection.type, call.event))
        return results.RecallResult(found=tuple(_build_recalled_detection(detection) for detection in matching))

    async def _find_last_session(self, call: calls.LastSessionCall, execution: StepExecution) -> results.SessionRecord:
        return await self._services.sessions.find_last_session(execution.require_pane(), call)

    async def _update_session(self, call: calls.SessionUpdateCall, _execution: StepExecution) -> results.SessionRecord:
        # Idempotent, because it only fills in missing values. It may run twice after a crash.
        return await self._services.sessions.update_session(call.session, call.external_id, call.tokens)

    async def _search_code(self, call: calls.SearchCodeCall, execution: StepExecution) -> results.CodeSearchResult:
        view = await self._services.panes.find_pane(execution.require_pane())
        if view is None or not view.facts.cwd:
            return results.CodeSearchResult(trouble="the folder of the pane is not known")

        async def run_program(action: RunProgram) -> Outcome:
            # Read-only programs go through the gate too, so that the audit log shows what was run.
            preconditions = Preconditions(correlation=build_correlation(execution))
            return await self._services.gate.run(action, build_actor(execution.run), preconditions)

        return await self._services.search_code(call.names, view.facts.cwd, run_program)


def check_detection_visible(
    detection: Detection, observation: results.Observation, lines: int
) -> results.TriggerCheckResult:
    """Check whether a pane still shows what was detected in it. The answer is False if unknown. Pure."""
    # The text may still be visible, but it belongs to an agent that has exited.
    if detection.runtime is not None and observation.runtime is not None and detection.runtime != observation.runtime:
        return results.TriggerCheckResult(is_so=False, why="another agent runs in the pane now")
    flag = detection.rule.removeprefix("signal.")
    if detection.rule == "signal.compacting":  # this event reports the end of a compaction, so the flag is cleared
        return results.TriggerCheckResult(is_so=not observation.compacting, why="the agent reported it")
    if detection.source == "signal":
        return _build_check_result(bool(getattr(observation, flag, False)), f"the flag {flag}")
    line = detection.evidence.get("line")
    if isinstance(line, int) and line and observation.line - line <= lines:
        return results.TriggerCheckResult(
            is_so=True, why=f"it is {max(0, observation.line - line)} lines above the last"
        )
    # A terminal wraps and pads rows, so white space is not compared.
    rows = [" ".join(row.split()) for row in (*observation.lines, *observation.screen)]
    # Short parts, such as a bullet, appear on any screen.
    parts = [part for row in detection.context.splitlines() if len(part := " ".join(row.split())) > 3]
    return _build_check_result(any(part in row for part in parts for row in rows), "the text")


def _build_check_result(is_so: bool, what: str) -> results.TriggerCheckResult:
    return results.TriggerCheckResult(is_so=is_so, why=f"{what} is {'still there' if is_so else 'no longer there'}")


def _build_recalled_detection(detection: Detection) -> results.RecalledDetection:
    return results.RecalledDetection(
        event=detection.event, at=detection.at, type=detection.type, captures=dict(detection.captures)
    )
