"""The one who knows what agents are doing: takes facts, stores them with what follows from them, and then tells it.

Invariants: nobody else writes facts, so their numbers are given here; what is not stored does not count and is not
told; a daemon that was killed goes on from exactly what it had stored.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from termvisor.agents.state.reducer import Knowledge, latest, told
from termvisor.agents.tracking.clock_jump import Reckoning
from termvisor.agents.tracking.fact_redaction import clean
from termvisor.agents.tracking.sessions import Story
from termvisor.agents.tracking.transition import Outcome, Standing, Terms, look_again, take_turn
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.agent.agent_process import ClockSet, Fact, Runtime
from termvisor.model.agent.read_position import Bookmark
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.state import Projection, StateChange
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.pipeline.agent_presence import Stay
from termvisor.store import Store
from termvisor.store.tables.agent_facts import Copy, Kept, Mark, Published

_WAITING = 10_000
"""Facts that may wait to be stored; while there are so many, further ones are refused."""
_TOGETHER = 256
_COPY_AFTER = 1000
_AGAIN_FOR = 2.0
_ALONE_FOR = 60.0
"""Seconds after which deadlines are reckoned anew: the machine's clock may have been set."""
_AHEAD = 10 * NS
"""How far ahead of the clock something known may be before the clock is doubted."""
_Reached = dict[str | tuple[RuntimeId, str], Mark | Bookmark]
log = logger("knowing")


class Knowing:
    def __init__(self, store: Store, events: Bus[Event], clock: Clock, terms: Terms):
        self._store, self._events, self._clock = store, events, clock
        self.terms = terms
        self.news: Bus[StateChange] = Bus()
        self.turns: Bus[Outcome] = Bus()
        """Everything that was stored, for those who count it."""
        self.standing = Standing()
        self.marks: dict[str, Mark] = {}
        """How far sources are read whose facts are stored."""
        self._bookmarks: dict[tuple[RuntimeId, str], bytes] = {}
        self.next_runtime = 1
        self.refused = 0
        self.trouble = ""
        """What keeps facts from being stored right now, for a person to read."""
        self._waiting: deque[Fact] = deque()
        self._reached: _Reached = {}
        self._copied = 0
        self._is_ending = False
        self._wake, self._is_done = asyncio.Event(), asyncio.Event()
        self._is_done.set()
        self.arrived: Callable[[PaneId], None] = lambda pane: None
        """Told of every pane in which an agent is known from now on."""
        self._here: dict[PaneId, Runtime] = {}
        self._left: dict[PaneId, Stay] = {}
        """Who was in a pane last."""
        self._reckoning = Reckoning(clock.now(), clock.monotonic())

    async def open(self) -> None:
        """Take up what an earlier daemon knew."""
        kept = await self._store.facts.kept()
        knowledge, self._copied = _copy(kept), kept.copied
        if knowledge is None:
            knowledge, self._copied = Knowledge(), 0
        last = self._copied
        while facts := await self._store.facts.after(last):
            knowledge, last = told(knowledge, (fact for _, fact in facts), self.terms.measure), facts[-1][0]
        story = Story(going_on={one.runtime: one for one in await self._store.sessions.open()}, last=kept.last_session)
        projections = {one.state.runtime: one for one in kept.states}
        self.next_runtime, self.marks = kept.last_runtime + 1, dict(kept.marks)
        self._bookmarks = {(one.runtime, one.watch): one.body for one in kept.bookmarks}
        self._left = {one.projection.state.pane: _stay(one) for one in reversed(kept.left)}
        self._adopt(Standing(knowledge=knowledge, projections=projections, story=story, last_fact=kept.last_fact))
        self._set_back(latest(knowledge))

    def _set_back(self, last: int) -> None:
        """What is known cannot be of the future: the clock was set back while nobody watched, at least so far."""
        now = self._clock.now()
        if last > now + _AHEAD:
            self.take([ClockSet(at=now, by=now - last)])

    def take(self, facts: Iterable[Fact], *, reached: tuple[str, Mark] | Bookmark | None = None) -> bool:
        """They are stored soon, in this order; False when too many wait already, and then none is taken.

        ``reached``: how far a source, or a place of an agent, is read once these are stored.
        """
        new = [clean(fact) for fact in facts]
        if len(self._waiting) + len(new) > _WAITING:
            self.refused += len(new)
            return False
        self._waiting.extend(new)
        if isinstance(reached, Bookmark):
            self._reached[reached.runtime, reached.watch] = reached
        elif reached:
            self._reached[reached[0]] = reached[1]
        if new or reached:
            self._is_done.clear()
            self._wake.set()
        return True

    def bookmark(self, runtime: RuntimeId, watch: str) -> bytes:
        """How far an earlier daemon had read a place of this agent. It is told once: whoever asked reads on from it."""
        return self._bookmarks.pop((runtime, watch), b"")

    def runtime_in(self, pane: PaneId) -> Runtime | None:
        """The agent that lives in a pane."""
        return self._here.get(pane)

    @property
    def living(self) -> dict[PaneId, Runtime]:
        return self._here

    def stays(self, pane: PaneId) -> list[Stay]:
        """The agent in a pane, and the one that was there before it."""
        here, left = self._here.get(pane), self._left.get(pane)
        return ([left] if left is not None else []) + ([self._staying(here)] if here is not None else [])

    def _staying(self, runtime: Runtime) -> Stay:
        session = self.session(runtime.id)
        return Stay(
            runtime=runtime.id,
            agent=runtime.agent,
            version=session.version if session is not None else "",
            began_at=runtime.started_at,
            has_process=bool(runtime.pid),
        )

    def new_runtime(self) -> RuntimeId:
        """A number that no agent had before."""
        self.next_runtime += 1
        return RuntimeId(self.next_runtime - 1)

    def projection(self, runtime: RuntimeId) -> Projection | None:
        return self.standing.projections.get(runtime)

    def session(self, runtime: RuntimeId) -> AgentSession | None:
        return self.standing.story.going_on.get(runtime)

    async def stored(self) -> None:
        """Wait until all that was taken up to now is stored and told."""
        await self._is_done.wait()

    async def run(self) -> None:
        """Until `end`. It is not cancelled: what is being stored has its numbers already."""
        await self._look_again()
        while not self._is_ending or self._waiting or self._reached:
            await self._wait()
            await self._turn()
        await self._leave()

    async def _look_again(self) -> None:
        """What time did while nobody watched."""
        while not self._is_ending:
            try:
                await self._conclude(look_again(self.standing, self._clock.now(), self.terms), {})
            except StorageError as error:
                await self._troubled(error)
            else:
                return

    def end(self) -> None:
        self._is_ending = True
        self._wake.set()

    async def _leave(self) -> None:
        """Store a copy of all that is known, so that the next daemon has little to fold."""
        if self._copied < self.standing.last_fact:
            with suppress(StorageError):
                await self._conclude(take_turn(self.standing, (), self._clock.now(), self.terms), {}, is_copied=True)

    async def _wait(self) -> None:
        due = min(self.standing.deadlines.values(), default=None)
        seconds = _ALONE_FOR if due is None else max(0.0, (due - self._clock.now()) / NS)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, _ALONE_FOR)):
                await self._wake.wait()
        self._wake.clear()

    async def _turn(self) -> None:
        if by := self._reckoning.jump(self._clock.now(), self._clock.monotonic()):
            log.warning("the machine's clock was set by %.1f s", by / NS)
            self._waiting.appendleft(ClockSet(at=self._clock.now(), by=by))
        facts = [self._waiting.popleft() for _ in range(min(_TOGETHER, len(self._waiting)))]
        reached, self._reached = ({}, self._reached) if self._waiting else (self._reached, {})
        try:
            await self._conclude(take_turn(self.standing, facts, self._clock.now(), self.terms), reached)
        except StorageError as error:
            self._waiting.extendleft(reversed(facts))
            self._reached = reached | self._reached
            await self._troubled(error)
        else:
            self.trouble = ""
        if self._waiting or self._reached:
            self._wake.set()
        else:
            self._is_done.set()

    async def _troubled(self, error: StorageError) -> None:
        """What is not stored waits; a daemon that is to end leaves it."""
        if not self.trouble:
            log.error("what agents do cannot be stored: %s", error)
        self.trouble = f"what agents do cannot be stored: {error}"
        if self._is_ending:
            self._waiting.clear()
            self._reached.clear()
        else:
            await self._clock.sleep(_AGAIN_FOR)

    async def _conclude(self, outcome: Outcome, reached: _Reached, *, is_copied: bool = False) -> None:
        """Store, then tell."""
        standing, turn = outcome.standing, outcome.turn
        if is_copied or standing.last_fact - self._copied >= _COPY_AFTER:
            turn = replace(turn, copy=Copy(fact=standing.last_fact, at=self._clock.now(), value=standing.knowledge))
        marks = _of_sources(reached)
        events: list[Event] = []
        if turn.facts or turn.states or turn.copy or reached:
            events = await self._store.facts.add(replace(turn, marks=marks, bookmarks=_of_living(reached, standing)))
        self._copied = turn.copy.fact if turn.copy else self._copied
        self.marks |= marks
        self._adopt(standing)
        self._tell(outcome, events)

    def _tell(self, outcome: Outcome, events: list[Event]) -> None:
        self.turns.publish(outcome)
        for event in events:
            self._events.publish(event)
        for change in outcome.changes:
            self.news.publish(change)

    def _adopt(self, standing: Standing) -> None:
        new: list[PaneId] = []
        if standing.knowledge.roster.tenants is not self.standing.knowledge.roster.tenants:
            tenants = standing.knowledge.roster.tenants.values()
            here = {tenant.runtime.pane: tenant.runtime for tenant in tenants}
            for pane in [pane for pane, runtime in self._here.items() if runtime != here.get(pane)]:
                self._left[pane] = replace(self._staying(self._here[pane]), ended_at=self._clock.now())
            new = [pane for pane, runtime in here.items() if runtime != self._here.get(pane)]
            self._here = here
        self.standing = standing
        for pane in new:
            self.arrived(pane)


def _of_sources(reached: _Reached) -> dict[str, Mark]:
    return {str(name): mark for name, mark in reached.items() if not isinstance(mark, Bookmark)}


def _of_living(reached: _Reached, standing: Standing) -> list[Bookmark]:
    """Those of others went when they ended."""
    living = standing.knowledge.roster.tenants
    return [one for one in reached.values() if isinstance(one, Bookmark) and one.runtime in living]


def _stay(one: Published) -> Stay:
    state = one.projection.state
    return Stay(runtime=state.runtime, agent=state.agent, began_at=one.began_at, ended_at=one.ended_at)


def _copy(kept: Kept) -> Knowledge | None:
    """None where there is none, or one of another version: then all facts that are kept are folded."""
    if not kept.copied:
        return None
    try:
        return msgspec.msgpack.decode(kept.copy, type=Knowledge)
    except msgspec.DecodeError as error:
        log.warning("what was known is folded anew: %s", error)
        return None
