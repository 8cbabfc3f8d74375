"""Steps in which a run only waits: for a time, for a person, or until what it left is no longer so."""

from termvisor.clock import NS
from termvisor.errors import MuxError, NotDone
from termvisor.model.workflow.run import Run
from termvisor.workflows.calls import Moment, Observation, Pause, Paused
from termvisor.workflows.engine.journaled_calls import Going
from termvisor.workflows.engine.services import Around
from termvisor.workflows.steps.race import race

RESUME = "resume"
"""The word that ends a pause."""
_NAP = 30.0
"""Seconds after which a sleeper looks at the clock: the machine may have slept, or its clock was set."""
_AGAIN_AFTER = 5.0


class Rest:
    def __init__(self, around: Around):
        self._around, self._clock = around, around.clock

    async def until(self, at: int) -> Moment:
        """By the wall clock, however that is set meanwhile."""
        while (remains := (at - self._clock.now()) / NS) > 0:
            await self._clock.sleep(min(remains, _NAP))
        return Moment(at=self._clock.now())

    async def pause(self, call: Pause, going: Going) -> Paused:
        ways = [self._resumed(going), self._allowed(call, going.run)]
        if call.until is not None:
            ways.append(self._due(call.until))
        if call.runtime is not None or call.unless:
            ways.append(self._left(call, going.run))
        return await race(*ways)

    async def _due(self, at: int) -> Paused:
        await self.until(at)
        return Paused(why="due")

    async def _resumed(self, going: Going) -> Paused:
        words = self._around.words
        with words.news() as news:
            while True:
                said = await words.said(going.run.id)
                if any(one.word == RESUME and one.at >= going.step.at for one in said):
                    return Paused(why="resumed")
                await news.get()

    async def _allowed(self, call: Pause, run: Run) -> Paused:
        """Who switches a workflow off, or a setting that it needs, need not wait until it wants to act."""
        around = self._around
        with around.detected.news() as news:
            while True:
                if around.modes.of(run.workflow) == "off":
                    details = {"status": "denied", "why": "switched_off"}
                    raise NotDone(f"{run.workflow} is switched off", details=details)
                told = await around.preferences.of(call.needs, run.agent, None)
                if off := next((name for name in call.needs if not told.is_on(name)), ""):
                    return Paused(why="changed", text=f"{off} is off")
                await news.get()
                news.drain()

    async def _left(self, call: Pause, run: Run) -> Paused:
        """Until the agent in the pane is another one, or does what it was not to do."""
        pane = run.pane
        if pane is None:
            return Paused(why="changed", text="there is no pane")
        with self._around.sight.stir(pane) as stir:
            while True:
                try:
                    seen = await self._around.sight.observe(pane, 0)
                except MuxError:  # whoever cannot look now looks later
                    await self._clock.sleep(_AGAIN_AFTER)
                    continue
                if text := differs(call, seen):
                    return Paused(why="changed", text=text)
                await stir.next(_NAP)


def differs(call: Pause, seen: Observation) -> str:
    """What is no longer as a pane was left; empty where all is. Pure."""
    if call.runtime is not None and seen.runtime != call.runtime:
        return "another agent is in the pane" if seen.agent else "its agent has left the pane"
    return f"{seen.agent} is {seen.state}" if seen.agent and seen.state in call.unless else ""
