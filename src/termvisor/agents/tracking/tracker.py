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

from termvisor.agents.state.reducer import AgentKnowledge, apply_facts, find_latest_fact_time
from termvisor.agents.tracking.clock_jump import ClockJumpDetector
from termvisor.agents.tracking.fact_redaction import redact_fact
from termvisor.agents.tracking.sessions import AgentSessions
from termvisor.agents.tracking.transition import (
    TrackerState,
    TrackingConfig,
    TrackingOutcome,
    compute_transition,
    reconcile_state,
)
from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.agent.agent_process import AgentProcess, ClockSet, Fact
from termvisor.model.agent.read_position import ReadPosition
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.state import StateChange, StateProjection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.pipeline.agent_presence import AgentPresence
from termvisor.store import Store
from termvisor.store.tables.agent_facts import FactCheckpoint, PublishedState, SourcePosition, StoredAgentState

_MAX_PENDING_FACTS = 10_000
"""Facts that may wait to be stored; while there are so many, further ones are refused."""
_MAX_FACTS_PER_BATCH = 256
_FACTS_PER_SNAPSHOT = 1000
_RETRY_DELAY_S = 2.0
_MAX_WAIT_S = 60.0
"""Seconds after which deadlines are reckoned anew: the machine's clock may have been set."""
_MAX_FUTURE_NS = 10 * NS
"""How far ahead of the clock something known may be before the clock is doubted."""
_ReadMarks = dict[str | tuple[RuntimeId, str], SourcePosition | ReadPosition]
log = get_logger("knowing")


class AgentTracker:
    def __init__(self, store: Store, events: Bus[Event], clock: Clock, config: TrackingConfig):
        self._store, self._events, self._clock = store, events, clock
        self.config = config
        self.state_changes: Bus[StateChange] = Bus()
        self.outcomes: Bus[TrackingOutcome] = Bus()
        """Everything that was stored, for those who count it."""
        self.state = TrackerState()
        self.source_positions: dict[str, SourcePosition] = {}
        """How far sources are read whose facts are stored."""
        self._read_positions: dict[tuple[RuntimeId, str], bytes] = {}
        self.next_agent_process_id = 1
        self.refused_fact_count = 0
        self.storage_problem = ""
        """What keeps facts from being stored right now, for a person to read."""
        self._pending_facts: deque[Fact] = deque()
        self._pending_marks: _ReadMarks = {}
        self._snapshot_fact = 0
        self._is_stopping = False
        self._wake_event, self._all_stored = asyncio.Event(), asyncio.Event()
        self._all_stored.set()
        self.on_agent_arrived: Callable[[PaneId], None] = lambda pane: None
        """Told of every pane in which an agent is known from now on."""
        self._agents_by_pane: dict[PaneId, AgentProcess] = {}
        self._last_agents_by_pane: dict[PaneId, AgentPresence] = {}
        """Who was in a pane last."""
        self._clock_jump_detector = ClockJumpDetector(clock.now(), clock.monotonic())

    async def restore(self) -> None:
        """Take up what an earlier daemon knew."""
        kept = await self._store.agent_facts.load_state()
        knowledge, self._snapshot_fact = _decode_snapshot(kept), kept.checkpoint_fact
        if knowledge is None:
            knowledge, self._snapshot_fact = AgentKnowledge(), 0
        last = self._snapshot_fact
        while facts := await self._store.agent_facts.list_after(last):
            knowledge, last = apply_facts(knowledge, (fact for _, fact in facts), self.config.thresholds), facts[-1][0]
        story = AgentSessions(
            going_on={one.runtime: one for one in await self._store.sessions.list_open()}, last=kept.last_session
        )
        projections = {one.state.runtime: one for one in kept.states}
        self.next_agent_process_id, self.source_positions = kept.last_runtime + 1, dict(kept.marks)
        self._read_positions = {(one.runtime, one.watch): one.body for one in kept.bookmarks}
        self._last_agents_by_pane = {
            one.projection.state.pane: _build_past_presence(one) for one in reversed(kept.exited)
        }
        self._set_state(
            TrackerState(knowledge=knowledge, projections=projections, story=story, last_fact=kept.last_fact)
        )
        self._correct_future_times(find_latest_fact_time(knowledge))

    def _correct_future_times(self, latest_at: int) -> None:
        """What is known cannot be of the future: the clock was set back while nobody watched, at least so far."""
        now = self._clock.now()
        if latest_at > now + _MAX_FUTURE_NS:
            self.submit_facts([ClockSet(at=now, by=now - latest_at)])

    def submit_facts(
        self, facts: Iterable[Fact], *, position: tuple[str, SourcePosition] | ReadPosition | None = None
    ) -> bool:
        """They are stored soon, in this order; False when too many wait already, and then none is taken.

        ``reached``: how far a source, or a place of an agent, is read once these are stored.
        """
        new = [redact_fact(fact) for fact in facts]
        if len(self._pending_facts) + len(new) > _MAX_PENDING_FACTS:
            self.refused_fact_count += len(new)
            return False
        self._pending_facts.extend(new)
        if isinstance(position, ReadPosition):
            self._pending_marks[position.runtime, position.watch] = position
        elif position:
            self._pending_marks[position[0]] = position[1]
        if new or position:
            self._all_stored.clear()
            self._wake_event.set()
        return True

    def take_read_position(self, agent_process_id: RuntimeId, watch: str) -> bytes:
        """How far an earlier daemon had read a place of this agent. It is told once: whoever asked reads on from it."""
        return self._read_positions.pop((agent_process_id, watch), b"")

    def find_agent_in_pane(self, pane: PaneId) -> AgentProcess | None:
        """The agent that lives in a pane."""
        return self._agents_by_pane.get(pane)

    @property
    def agents_by_pane(self) -> dict[PaneId, AgentProcess]:
        return self._agents_by_pane

    def list_presences(self, pane: PaneId) -> list[AgentPresence]:
        """The agent in a pane, and the one that was there before it."""
        here, left = self._agents_by_pane.get(pane), self._last_agents_by_pane.get(pane)
        return ([left] if left is not None else []) + ([self._build_presence(here)] if here is not None else [])

    def _build_presence(self, agent_process: AgentProcess) -> AgentPresence:
        session = self.get_session(agent_process.id)
        return AgentPresence(
            agent_process=agent_process.id,
            agent=agent_process.agent,
            version=session.version if session is not None else "",
            began_at=agent_process.started_at,
            has_process=bool(agent_process.pid),
        )

    def allocate_agent_process_id(self) -> RuntimeId:
        """A number that no agent had before."""
        self.next_agent_process_id += 1
        return RuntimeId(self.next_agent_process_id - 1)

    def get_projection(self, agent_process_id: RuntimeId) -> StateProjection | None:
        return self.state.projections.get(agent_process_id)

    def get_session(self, agent_process_id: RuntimeId) -> AgentSession | None:
        return self.state.story.going_on.get(agent_process_id)

    async def wait_stored(self) -> None:
        """Wait until all that was taken up to now is stored and told."""
        await self._all_stored.wait()

    async def run(self) -> None:
        """Until `end`. It is not cancelled: what is being stored has its numbers already."""
        await self._reconcile()
        while not self._is_stopping or self._pending_facts or self._pending_marks:
            await self._wait_for_facts()
            await self._process_batch()
        await self._store_snapshot()

    async def _reconcile(self) -> None:
        """What time did while nobody watched."""
        while not self._is_stopping:
            try:
                await self._store_outcome(reconcile_state(self.state, self._clock.now(), self.config), {})
            except StorageError as error:
                await self._handle_storage_error(error)
            else:
                return

    def stop(self) -> None:
        self._is_stopping = True
        self._wake_event.set()

    async def _store_snapshot(self) -> None:
        """Store a copy of all that is known, so that the next daemon has little to fold."""
        if self._snapshot_fact < self.state.last_fact:
            with suppress(StorageError):
                await self._store_outcome(
                    compute_transition(self.state, (), self._clock.now(), self.config), {}, with_snapshot=True
                )

    async def _wait_for_facts(self) -> None:
        due = min(self.state.deadlines.values(), default=None)
        seconds = _MAX_WAIT_S if due is None else max(0.0, (due - self._clock.now()) / NS)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, _MAX_WAIT_S)):
                await self._wake_event.wait()
        self._wake_event.clear()

    async def _process_batch(self) -> None:
        if by := self._clock_jump_detector.detect_jump(self._clock.now(), self._clock.monotonic()):
            log.warning("the machine's clock was set by %.1f s", by / NS)
            self._pending_facts.appendleft(ClockSet(at=self._clock.now(), by=by))
        facts = [self._pending_facts.popleft() for _ in range(min(_MAX_FACTS_PER_BATCH, len(self._pending_facts)))]
        reached, self._pending_marks = ({}, self._pending_marks) if self._pending_facts else (self._pending_marks, {})
        try:
            await self._store_outcome(compute_transition(self.state, facts, self._clock.now(), self.config), reached)
        except StorageError as error:
            self._pending_facts.extendleft(reversed(facts))
            self._pending_marks = reached | self._pending_marks
            await self._handle_storage_error(error)
        else:
            self.storage_problem = ""
        if self._pending_facts or self._pending_marks:
            self._wake_event.set()
        else:
            self._all_stored.set()

    async def _handle_storage_error(self, error: StorageError) -> None:
        """What is not stored waits; a daemon that is to end leaves it."""
        if not self.storage_problem:
            log.error("what agents do cannot be stored: %s", error)
        self.storage_problem = f"what agents do cannot be stored: {error}"
        if self._is_stopping:
            self._pending_facts.clear()
            self._pending_marks.clear()
        else:
            await self._clock.sleep(_RETRY_DELAY_S)

    async def _store_outcome(
        self, outcome: TrackingOutcome, read_marks: _ReadMarks, *, with_snapshot: bool = False
    ) -> None:
        """Store, then tell."""
        standing, turn = outcome.state, outcome.turn
        if with_snapshot or standing.last_fact - self._snapshot_fact >= _FACTS_PER_SNAPSHOT:
            turn = replace(
                turn, copy=FactCheckpoint(fact=standing.last_fact, at=self._clock.now(), value=standing.knowledge)
            )
        marks = _select_source_positions(read_marks)
        events: list[Event] = []
        if turn.facts or turn.states or turn.copy or read_marks:
            events = await self._store.agent_facts.add(
                replace(turn, marks=marks, bookmarks=_select_read_positions(read_marks, standing))
            )
        self._snapshot_fact = turn.copy.fact if turn.copy else self._snapshot_fact
        self.source_positions |= marks
        self._set_state(standing)
        self._publish_outcome(outcome, events)

    def _publish_outcome(self, outcome: TrackingOutcome, events: list[Event]) -> None:
        self.outcomes.publish(outcome)
        for event in events:
            self._events.publish(event)
        for change in outcome.changes:
            self.state_changes.publish(change)

    def _set_state(self, tracker_state: TrackerState) -> None:
        new: list[PaneId] = []
        if tracker_state.knowledge.roster.tenants is not self.state.knowledge.roster.tenants:
            tenants = tracker_state.knowledge.roster.tenants.values()
            here = {tenant.runtime.pane: tenant.runtime for tenant in tenants}
            for pane in [pane for pane, runtime in self._agents_by_pane.items() if runtime != here.get(pane)]:
                self._last_agents_by_pane[pane] = replace(
                    self._build_presence(self._agents_by_pane[pane]), ended_at=self._clock.now()
                )
            new = [pane for pane, runtime in here.items() if runtime != self._agents_by_pane.get(pane)]
            self._agents_by_pane = here
        self.state = tracker_state
        for pane in new:
            self.on_agent_arrived(pane)


def _select_source_positions(read_marks: _ReadMarks) -> dict[str, SourcePosition]:
    return {str(name): mark for name, mark in read_marks.items() if not isinstance(mark, ReadPosition)}


def _select_read_positions(read_marks: _ReadMarks, tracker_state: TrackerState) -> list[ReadPosition]:
    """Those of others went when they ended."""
    living = tracker_state.knowledge.roster.tenants
    return [one for one in read_marks.values() if isinstance(one, ReadPosition) and one.runtime in living]


def _build_past_presence(one: PublishedState) -> AgentPresence:
    state = one.projection.state
    return AgentPresence(agent_process=state.runtime, agent=state.agent, began_at=one.began_at, ended_at=one.ended_at)


def _decode_snapshot(kept: StoredAgentState) -> AgentKnowledge | None:
    """None where there is none, or one of another version: then all facts that are kept are folded."""
    if not kept.checkpoint_fact:
        return None
    try:
        return msgspec.msgpack.decode(kept.copy, type=AgentKnowledge)
    except msgspec.DecodeError as error:
        log.warning("what was known is folded anew: %s", error)
        return None
