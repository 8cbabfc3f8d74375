"""Steps in which a run only waits: for a time, for a person, or until what it left is no longer so."""

from termvisor.clock import NS
from termvisor.errors import MuxError, NotDone
from termvisor.model.workflow.run import Run
from termvisor.workflows.calls import ClockReading, Observation, PauseCall, PauseResult
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.engine.services import StepServices
from termvisor.workflows.steps.race import race

RESUME_SIGNAL = "resume"
"""The word that ends a pause."""
_CLOCK_CHECK_INTERVAL_S = 30.0
"""Seconds after which a sleeper looks at the clock: the machine may have slept, or its clock was set."""
_RETRY_DELAY_S = 5.0


class SleepSteps:
    def __init__(self, services: StepServices):
        self._services, self._clock = services, services.clock

    async def sleep_until(self, at: int) -> ClockReading:
        """By the wall clock, however that is set meanwhile."""
        while (remains := (at - self._clock.now()) / NS) > 0:
            await self._clock.sleep(min(remains, _CLOCK_CHECK_INTERVAL_S))
        return ClockReading(at=self._clock.now())

    async def pause(self, call: PauseCall, execution: StepExecution) -> PauseResult:
        ways = [self._wait_for_resume(execution), self._watch_settings(call, execution.run)]
        if call.until is not None:
            ways.append(self._wait_until_due(call.until))
        if call.runtime is not None or call.unless:
            ways.append(self._watch_agent(call, execution.run))
        return await race(*ways)

    async def _wait_until_due(self, at: int) -> PauseResult:
        await self.sleep_until(at)
        return PauseResult(why="due")

    async def _wait_for_resume(self, execution: StepExecution) -> PauseResult:
        words = self._services.signals
        with words.subscribe() as news:
            while True:
                said = await words.list_signals(execution.run.id)
                if any(one.word == RESUME_SIGNAL and one.at >= execution.step.at for one in said):
                    return PauseResult(why="resumed")
                await news.get()

    async def _watch_settings(self, call: PauseCall, run: Run) -> PauseResult:
        """Who switches a workflow off, or a setting that it needs, need not wait until it wants to act."""
        around = self._services
        with around.detections.subscribe() as news:
            while True:
                if around.modes.get_mode(run.workflow) == "off":
                    details = {"status": "denied", "why": "switched_off"}
                    raise NotDone(f"{run.workflow} is switched off", details=details)
                told = await around.preferences.read_preferences(call.needs, run.agent, None)
                if off := next((name for name in call.needs if not told.is_on(name)), ""):
                    return PauseResult(why="changed", text=f"{off} is off")
                await news.get()
                news.drain()

    async def _watch_agent(self, call: PauseCall, run: Run) -> PauseResult:
        """Until the agent in the pane is another one, or does what it was not to do."""
        pane = run.pane
        if pane is None:
            return PauseResult(why="changed", text="there is no pane")
        with self._services.panes.watch_pane(pane) as stir:
            while True:
                try:
                    seen = await self._services.panes.observe(pane, 0)
                except MuxError:  # whoever cannot look now looks later
                    await self._clock.sleep(_RETRY_DELAY_S)
                    continue
                if text := describe_pane_change(call, seen):
                    return PauseResult(why="changed", text=text)
                await stir.wait_for_change(_CLOCK_CHECK_INTERVAL_S)


def describe_pane_change(call: PauseCall, observation: Observation) -> str:
    """What is no longer as a pane was left; empty where all is. Pure."""
    if call.runtime is not None and observation.runtime != call.runtime:
        return "another agent is in the pane" if observation.agent else "its agent has left the pane"
    return (
        f"{observation.agent} is {observation.state}" if observation.agent and observation.state in call.unless else ""
    )
