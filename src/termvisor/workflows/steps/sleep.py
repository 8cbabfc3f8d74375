"""Execute steps in which a run only waits: for a time, for a person, or until its pane or settings change."""

from termvisor.clock import NS
from termvisor.errors import MuxError, NotDone
from termvisor.model.workflow.run import Run
from termvisor.workflows.calls import ClockReading, Observation, PauseCall, PauseResult
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.engine.services import StepServices
from termvisor.workflows.steps.race import race

RESUME_SIGNAL = "resume"
"""The signal that ends a pause."""
_CLOCK_CHECK_INTERVAL_S = 30.0
"""Seconds after which a sleep checks the wall clock: the machine may have been suspended, or its clock set."""
_RETRY_DELAY_S = 5.0


class SleepSteps:
    def __init__(self, services: StepServices):
        self._services, self._clock = services, services.clock

    async def sleep_until(self, at: int) -> ClockReading:
        """Sleep until the wall clock shows ``at``, also if it is set meanwhile."""
        while (seconds := (at - self._clock.now()) / NS) > 0:
            await self._clock.sleep(min(seconds, _CLOCK_CHECK_INTERVAL_S))
        return ClockReading(at=self._clock.now())

    async def pause(self, call: PauseCall, execution: StepExecution) -> PauseResult:
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
                signals = await self._services.signals.list_signals(execution.run.id)
                if any(signal.word == RESUME_SIGNAL and signal.at >= execution.step.at for signal in signals):
                    return PauseResult(why="resumed")
                await updates.get()

    async def _watch_settings(self, call: PauseCall, run: Run) -> PauseResult:
        """End the pause when a setting that the workflow needs is switched off; raise ``NotDone`` if it is itself."""
        services = self._services
        # A reloaded configuration is an event too, so the feed of events wakes this up.
        with services.detections.subscribe() as updates:
            while True:
                if services.modes.get_mode(run.workflow) == "off":
                    details = {"status": "denied", "why": "switched_off"}
                    raise NotDone(f"{run.workflow} is switched off", details=details)
                values = await services.preferences.read_preferences(call.needs, run.agent, None)
                if off := next((name for name in call.needs if not values.is_on(name)), ""):
                    return PauseResult(why="changed", text=f"{off} is off")
                await updates.get()
                updates.drain()

    async def _watch_agent(self, call: PauseCall, run: Run) -> PauseResult:
        """End the pause when another agent is in the pane, or when it enters an excluded state."""
        pane = run.pane
        if pane is None:
            return PauseResult(why="changed", text="the run has no pane")
        with self._services.panes.watch_pane(pane) as changes:
            while True:
                try:
                    observation = await self._services.panes.observe(pane, 0)
                except MuxError:  # tmux does not answer: no reason to end the pause, try again later
                    await self._clock.sleep(_RETRY_DELAY_S)
                    continue
                if text := describe_pane_change(call, observation):
                    return PauseResult(why="changed", text=text)
                await changes.wait_for_change(_CLOCK_CHECK_INTERVAL_S)


def describe_pane_change(call: PauseCall, observation: Observation) -> str:
    """Return what changed in the pane; empty if nothing did. Pure."""
    if call.runtime is not None and observation.runtime != call.runtime:
        return "another agent is in the pane" if observation.agent else "its agent has exited"
    is_excluded = observation.agent and observation.state in call.unless
    return f"{observation.agent} is {observation.state}" if is_excluded else ""
