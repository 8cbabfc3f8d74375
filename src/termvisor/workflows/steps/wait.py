"""Execute the steps in which a run waits: for a condition in its pane, a time, a person, or the end of a pause.

Output since the run's last action counts too, so that no response is missed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import BadRequest, ConfigError, MuxError, NotDone, TimedOut, VisorError
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow import Run
from termvisor.redaction import redact
from termvisor.regex import compile_patterns
from termvisor.workflows.calls import PauseCall, WaitFor
from termvisor.workflows.engine.journal_replay import describe_call
from termvisor.workflows.engine.journaled_calls import LastAction, StepExecution, compute_remaining_seconds
from termvisor.workflows.engine.services import PaneReader, WorkflowServices
from termvisor.workflows.results import ClockReading, Observation, PauseResult, WaitResult

_LOOK_BACK_LINES = 50
"""How many lines before a run's first action count as well."""
_POLL_INTERVAL_S = 5.0
"""Seconds after which a pane is read even without a notification, because full-screen programs send none."""
# Generic functions with type parameters need Python 3.12.
T = TypeVar("T")
RESUME_SIGNAL = "resume"
"""The signal that ends a pause."""
_CLOCK_CHECK_INTERVAL_S = 30.0
"""Seconds between wall clock checks during a sleep, in case the machine was suspended or its clock set."""
_RETRY_DELAY_S = 5.0


class WaitBaseline(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The point after which output, events and signals count. Stored when the step starts."""

    after: int = 0
    """Lines up to this number do not count."""
    echo: str = ""
    """Rows with this text merely echo what the run typed."""
    since: int = 0
    """Events before this time do not count."""
    signal: int = 0
    """Signals up to this id do not count."""


class WaitSteps:
    def __init__(self, services: WorkflowServices):
        self._services, self._panes, self._clock = services, services.panes, services.clock

    async def encode_baseline(self, run: Run, call: WaitFor, last: LastAction) -> str:
        baseline = WaitBaseline(signal=last.signal, since=last.at or run.at)
        # Only texts need a start line. States, rules and signals are compared by time or id.
        if run.pane is not None and (call.text or call.pattern):
            after = await self._find_start_line(run.pane) if last.line is None else last.line
            # The shell or the agent echoes typed text, and the echo must not count as its response.
            first_row = last.text.strip().splitlines()[0] if last.text.strip() else ""
            baseline = WaitBaseline(after=after, echo=redact(first_row))
        return msgspec.json.encode(baseline).decode()

    async def _find_start_line(self, pane: PaneId) -> int:
        view = await self._panes.find_pane(pane)
        return max(0, (view.lines if view else 0) - _LOOK_BACK_LINES)

    async def wait(self, call: WaitFor, execution: StepExecution) -> WaitResult:
        pane, seconds = execution.run.pane, compute_remaining_seconds(execution, call.timeout, self._clock.now())
        # A signal needs no pane, so a run without one can wait for it.
        if call.signal:
            return await race(self._wait_for_signal(call, execution), self._time_out(call, seconds))
        if pane is None:
            raise BadRequest("the run has no pane to wait for")
        check = self._build_check(call, execution, pane)
        # Not the wall clock, which may be set while the run waits. Time before a restart is already deducted.
        until = self._clock.monotonic() + seconds
        # Subscribe before the first check, so that no change is missed between checks.
        with self._panes.watch_pane(pane) as changes:
            while True:
                observation = await self._panes.observe(pane, _LOOK_BACK_LINES)
                if (result := await check(observation)) is not None:
                    return result
                # Check the time after the condition, so that a condition met at the last moment still counts.
                if (left := until - self._clock.monotonic()) <= 0:
                    raise _build_timeout_error(call)
                await changes.wait_for_change(min(left, _compute_poll_interval(call, observation)))

    def _build_check(self, call: WaitFor, execution: StepExecution, pane: PaneId) -> "WaitCheck":
        if call.text or call.pattern:
            return _TextCheck(self._panes, pane, call, _decode_baseline(execution)).check
        if call.rule:
            return self._build_rule_check(call, execution, pane)
        return _build_state_check(call, _decode_baseline(execution).since)

    def _build_rule_check(self, call: WaitFor, execution: StepExecution, pane: PaneId) -> "WaitCheck":
        async def check(_observation: Observation) -> WaitResult | None:
            for detection in await self._services.list_recent_detections(pane, _decode_baseline(execution).since):
                # Ignore the event that started the run.
                if detection.event != execution.run.event and _is_rule_match(detection, call.rule):
                    return WaitResult(what="rule", text=detection.type, event=detection.event)
            return None

        return check

    async def _wait_for_signal(self, call: WaitFor, execution: StepExecution) -> WaitResult:
        with self._services.signals.subscribe() as updates:
            while True:
                for signal in await self._services.runs.list_signals(execution.run.id):
                    if signal.word == call.signal and signal.id > _decode_baseline(execution).signal:
                        return WaitResult(what="signal", text=signal.word, value=signal.value, event=signal.id)
                await updates.get()

    async def _time_out(self, call: WaitFor, seconds: float) -> WaitResult:
        await self._clock.sleep(seconds)
        raise _build_timeout_error(call)


WaitCheck = Callable[[Observation], Awaitable[WaitResult | None]]


class _TextCheck:
    def __init__(self, panes: PaneReader, pane: PaneId, call: WaitFor, baseline: WaitBaseline):
        self._panes, self._pane, self._baseline = panes, pane, baseline
        self._matches, self._last_line = build_text_matcher(call), baseline.after
        self._condition: Literal["text", "pattern"] = "text" if call.text else "pattern"

    async def check(self, observation: Observation) -> WaitResult | None:
        # Check lines first, because they are complete. The screen may repeat parts of them.
        rows = [*await self._read_printed_rows(), *_select_visible_rows(observation)]
        match = next((row for row in rows if self._is_match(row)), None)
        return None if match is None else WaitResult(what=self._condition, text=match)

    async def _read_printed_rows(self) -> list[str]:
        rows: list[str] = []
        while page := await self._panes.read_lines(self._pane, self._last_line):
            rows += [line.text for line in page]
            # Each line is read once, except those that the program may still rewrite.
            settled = [line.number for line in page if not line.is_provisional]
            self._last_line = max([self._last_line, *settled])
            if len(settled) < len(page):
                break
        return rows

    def _is_match(self, row: str) -> bool:
        echo = self._baseline.echo
        return self._matches(row) and not (echo and echo in row)


def _select_visible_rows(observation: Observation) -> tuple[str, ...]:
    """Return all rows if the program repaints its screen, else only the last row, which is not a line yet."""
    if observation.agent or observation.is_alternate:
        return observation.screen
    return tuple(row for row in observation.screen if row.strip())[-1:]


def _build_state_check(call: WaitFor, since: int) -> WaitCheck:
    async def check(observation: Observation) -> WaitResult | None:
        if call.state:
            is_in_state = observation.agent and observation.state in call.state
            is_met = is_in_state and (not call.is_new or observation.state_at >= since)
            return WaitResult(what="state", text=observation.state) if is_met else None
        if call.session or call.cleared or call.gone:
            return _check_agent(call, observation)
        if call.prompt:
            return WaitResult(what="prompt") if observation.activity == "prompt" else None
        is_quiet = observation.quiet_for is None or observation.quiet_for >= call.quiet
        return WaitResult(what="quiet") if is_quiet else None

    return check


def _check_agent(call: WaitFor, observation: Observation) -> WaitResult | None:
    if call.session:
        has_session = observation.agent and observation.session == call.session
        return WaitResult(what="session", text=observation.session) if has_session else None
    if call.cleared:
        is_clear = bool(observation.agent) and not getattr(observation, call.cleared)
        return WaitResult(what="cleared", text=call.cleared) if is_clear else None
    return None if any(call.gone in row for row in observation.screen) else WaitResult(what="gone", text=call.gone)


def build_text_matcher(call: WaitFor) -> Callable[[str], bool]:
    """Return a predicate that matches a row. Raises ``BadRequest`` for an invalid pattern."""
    if call.text:
        # A plain text needs no pattern engine.
        return lambda row: call.text in row
    try:
        matcher = compile_patterns({"expression": call.pattern}, "re2")
    except ConfigError as error:
        raise BadRequest(f"{call.pattern}: {error.message}") from error
    return lambda row: bool(matcher.find_ids(row.encode("utf-8", "replace")))


def _decode_baseline(execution: StepExecution) -> WaitBaseline:
    return msgspec.json.decode(execution.start_note, type=WaitBaseline) if execution.start_note else WaitBaseline()


def _is_rule_match(detection: Detection, name: str) -> bool:
    return fnmatchcase(detection.rule, name) or fnmatchcase(detection.type, name)


def _compute_poll_interval(call: WaitFor, observation: Observation) -> float:
    return max(0.05, call.quiet - (observation.quiet_for or 0.0)) if call.quiet else _POLL_INTERVAL_S


def _build_timeout_error(call: WaitFor) -> TimedOut:
    text = f"timed out after {call.timeout:g} s waiting for {describe_call(call)}"
    return TimedOut(text, details={"seconds": call.timeout})


class SleepSteps:
    def __init__(self, services: WorkflowServices):
        self._services, self._clock = services, services.clock

    async def sleep_until(self, at: int) -> ClockReading:
        """Sleep until the wall clock shows ``at``, even if the clock is set meanwhile."""
        # A single long sleep would not notice that the machine was suspended.
        while (seconds := (at - self._clock.now()) / NS) > 0:
            await self._clock.sleep(min(seconds, _CLOCK_CHECK_INTERVAL_S))
        return ClockReading(at=self._clock.now())

    async def pause(self, call: PauseCall, execution: StepExecution) -> PauseResult:
        # All run concurrently, and the first to return ends the pause.
        waits = [self._wait_for_resume(execution), self._watch_settings(call, execution.run)]
        if call.until is not None:
            waits.append(self._wait_until_due(call.until))
        if call.runtime is not None or call.unless:
            waits.append(self._watch_agent(call, execution.run))
        return await race(*waits)

    async def _wait_until_due(self, at: int) -> PauseResult:
        await self.sleep_until(at)
        return PauseResult(why="due")

    async def _wait_for_resume(self, execution: StepExecution) -> PauseResult:
        with self._services.signals.subscribe() as updates:
            while True:
                signals = await self._services.runs.list_signals(execution.run.id)
                if any(signal.word == RESUME_SIGNAL and signal.at >= execution.step.at for signal in signals):
                    return PauseResult(why="resumed")
                await updates.get()

    async def _watch_settings(self, call: PauseCall, run: Run) -> PauseResult:
        """End the pause when a setting that the workflow needs is off. Raises ``NotDone`` if the workflow is off."""
        services = self._services
        # A configuration reload is an event too, so the event feed wakes this up.
        with services.events.subscribe() as updates:
            while True:
                if services.get_mode(run.workflow) == "off":
                    details = {"status": "denied", "why": "switched_off"}
                    raise NotDone(f"{run.workflow} is switched off", details=details)
                values = await services.read_preferences(call.needs, run.agent, None)
                if off := next((name for name in call.needs if not values.is_on(name)), ""):
                    return PauseResult(why="changed", text=f"{off} is off")
                await updates.get()
                updates.drain()

    async def _watch_agent(self, call: PauseCall, run: Run) -> PauseResult:
        """End the pause when another agent is in the pane, or when the agent enters an excluded state."""
        pane = run.pane
        if pane is None:
            return PauseResult(why="changed", text="the run has no pane")
        with self._services.panes.watch_pane(pane) as changes:
            while True:
                try:
                    observation = await self._services.panes.observe(pane, 0)
                except MuxError:  # tmux not answering is no reason to end the pause; try again later
                    await self._clock.sleep(_RETRY_DELAY_S)
                    continue
                if text := describe_pane_change(call, observation):
                    return PauseResult(why="changed", text=text)
                await changes.wait_for_change(_CLOCK_CHECK_INTERVAL_S)


def describe_pane_change(call: PauseCall, observation: Observation) -> str:
    """Describe what changed in the pane; empty if nothing changed. Pure."""
    if call.runtime is not None and observation.runtime != call.runtime:
        return "another agent is in the pane" if observation.agent else "its agent has exited"
    is_excluded = observation.agent and observation.state in call.unless
    return f"{observation.agent} is {observation.state}" if is_excluded else ""


async def race(*awaitables: Awaitable[T]) -> T:
    """Return the result, or raise the error, of whichever finishes first. All have ended when this returns."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_capture_error(awaitable)) for awaitable in awaitables]
        # If several are done, the first argument wins, so that the result does not depend on scheduling.
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    value, error = next(task for task in tasks if task in done).result()
    if error is not None:
        raise error
    return value[0]


async def _capture_error(awaitable: Awaitable[T]) -> tuple[tuple[T, ...], VisorError | None]:
    # Return the error instead of raising it, because a TaskGroup would wrap it in an ExceptionGroup.
    try:
        return (await awaitable,), None
    except VisorError as error:
        return (), error
