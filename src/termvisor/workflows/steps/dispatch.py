"""Carries steps out: each kind of call has one function here that does it, or hands it on."""

from collections.abc import Awaitable, Callable

from termvisor.errors import BadRequest, TimedOut
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.run import Run
from termvisor.workflows.account_failover import SelectAccount, Selected
from termvisor.workflows.calls import (
    Act,
    Answer,
    Ask,
    Call,
    Came,
    Holds,
    Keep,
    LastSession,
    Moment,
    Note,
    Nothing,
    Now,
    Observation,
    Observe,
    Pause,
    Prefer,
    Preferred,
    Recall,
    SearchCode,
    SleepUntil,
    Still,
    WaitFor,
)
from termvisor.workflows.engine.journaled_calls import Going, Last
from termvisor.workflows.engine.services import Around
from termvisor.workflows.steps.act import Deeds, correlation_of
from termvisor.workflows.steps.lookups import Memory
from termvisor.workflows.steps.race import race
from termvisor.workflows.steps.sleep import Rest
from termvisor.workflows.steps.wait import Waits

NEEDLESS = "needless"
"""Why a question has no answer: what it was about is settled."""


class Steps:
    def __init__(self, around: Around):
        self._around, self._clock = around, around.clock
        self.deeds = Deeds(around.hands, around.sight, around.words, around.modes)
        self._waits = Waits(around.sight, around.detected, around.words, around.clock)
        self._rest, self._memory = Rest(around), Memory(around)

    async def prepare(self, run: Run, call: Call, last: Last) -> str:
        return await self._waits.prepare(run, call, last) if isinstance(call, WaitFor) else ""

    async def take(self, call: Call, going: Going) -> Came:
        takers: dict[type, Callable[..., Awaitable[Came]]] = {
            Observe: self._observe,
            WaitFor: self._waits.wait,
            Act: self.deeds.act,
            Ask: self._ask,
            SleepUntil: self._sleep,
            Pause: self._rest.pause,
            Still: self._still,
            Prefer: self._prefer,
            Recall: self._memory.recall,
            LastSession: self._memory.last_session,
            Keep: self._memory.keep,
            SearchCode: self._memory.search_code,
            SelectAccount: self._select,
            Note: self._note,
            Now: self._now,
        }
        return await takers[type(call)](call, going)

    async def _observe(self, call: Observe, going: Going) -> Observation:
        return await self._around.sight.observe(_pane(going), call.lines)

    async def _ask(self, call: Ask, going: Going) -> Came:
        asking = self.deeds.ask(call, going, self._clock.now())
        if call.unless is None:
            return await asking
        came = await race(asking, self._needless(call.unless, going))
        if came.why == NEEDLESS:
            await self._around.hands.withdraw(correlation_of(going))
        return came

    async def _needless(self, what: WaitFor, going: Going) -> Answer:
        """Until the question need not be answered any more; what does not come leaves it open."""
        while True:
            try:
                await self._waits.wait(what, going)
            except TimedOut:
                await self._clock.sleep(what.timeout)
            else:
                return Answer(why=NEEDLESS)

    async def _select(self, call: SelectAccount, going: Going) -> Selected:
        run = going.run
        return await self._around.failover.select(run.pane, run.agent, call.service)

    async def _note(self, _call: Note, _going: Going) -> Nothing:
        return Nothing()

    async def _now(self, _call: Now, _going: Going) -> Moment:
        return Moment(at=self._clock.now())

    async def _sleep(self, call: SleepUntil, _going: Going) -> Moment:
        return await self._rest.until(call.at)

    async def _prefer(self, call: Prefer, going: Going) -> Preferred:
        run = going.run
        view = None if run.pane is None else await self._around.sight.view(run.pane)
        return await self._around.preferences.of(call.names, run.agent, view)

    async def _still(self, call: Still, going: Going) -> Holds:
        run = going.run
        seen = await self._around.sight.observe(_pane(going), call.lines)
        if call.text:
            return _holds(any(call.text in row for row in (*seen.lines, *seen.screen)), "the text")
        if run.event is None:
            return Holds(is_so=True, why="no event started it")
        found = await self._around.detected.one(run.event)
        return (
            Holds(is_so=False, why="the event is no longer kept") if found is None else shows(found, seen, call.lines)
        )


def shows(found: Detection, seen: Observation, lines: int) -> Holds:
    """Whether a pane still shows what was detected in it. Pure; what cannot be told is not so."""
    if found.runtime is not None and seen.runtime is not None and found.runtime != seen.runtime:
        return Holds(is_so=False, why="another agent is in the pane now")
    flag = found.rule.removeprefix("signal.")
    if found.rule == "signal.compacting":  # it tells that one has ended, so the flag is gone
        return Holds(is_so=not seen.compacting, why="the agent said so itself")
    if found.source == "signal":
        return _holds(bool(getattr(seen, flag, False)), f"the flag {flag}")
    line = found.evidence.get("line")
    if isinstance(line, int) and line and seen.line - line <= lines:
        return Holds(is_so=True, why=f"it stands {max(0, seen.line - line)} lines above the last")
    rows = [" ".join(row.split()) for row in (*seen.lines, *seen.screen)]
    parts = [part for row in found.context.splitlines() if len(part := " ".join(row.split())) > 3]
    return _holds(any(part in row for part in parts for row in rows), "the text")


def _holds(is_so: bool, what: str) -> Holds:
    return Holds(is_so=is_so, why=f"{what} is {'still there' if is_so else 'no longer there'}")


def _pane(going: Going) -> PaneId:
    if going.run.pane is None:
        raise BadRequest("the run has no pane")
    return going.run.pane
