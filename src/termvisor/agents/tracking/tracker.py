"""Store facts about agents with the states that follow from them, then publish the changes (`AgentTracker`).

Invariants: it is the only writer of facts and allocates their numbers; nothing is published before it is stored; a
daemon that was killed resumes from exactly what it had stored.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from termvisor.agents.sources.redaction import redact_fact
from termvisor.agents.state.clock_change import ClockJumpDetector, find_latest_time
from termvisor.agents.state.reducer import AgentKnowledge, apply_facts
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
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import ReadPosition
from termvisor.model.agent.state import StateChange, StateProjection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.pipeline.rule_matcher import AgentPresence
from termvisor.store import Store
from termvisor.store.tables.agent_facts import FactCheckpoint, SourcePosition, StoredAgentState

# Maximum number of unstored facts in the buffer. Further facts are refused.
_MAX_PENDING_FACTS = 10_000
_MAX_FACTS_PER_BATCH = 256
# A restart folds at most about this many facts again.
_FACTS_PER_SNAPSHOT = 1000
_RETRY_DELAY_S = 2.0
# Check deadlines at least this often: the system clock may have been set.
_MAX_WAIT_S = 60.0
# How far a stored fact may be in the future before the clock counts as set back.
_MAX_FUTURE_NS = 10 * NS
_ReadMarks = dict[str | tuple[RuntimeId, str], SourcePosition | ReadPosition]
log = get_logger("agents")


class AgentTracker:
    def __init__(self, store: Store, events: Bus[Event], clock: Clock, config: TrackingConfig):
        self._store, self._events, self._clock = store, events, clock
        self.config = config
        self.state_changes: Bus[StateChange] = Bus()
        self.outcomes: Bus[TrackingOutcome] = Bus()
        """Every stored batch, for monitors."""
        self.state = TrackerState()
        self.source_positions: dict[str, SourcePosition] = {}
        """How far each source has been read, as of the stored facts."""
        self._read_positions: dict[tuple[RuntimeId, str], bytes] = {}
        self.next_agent_process_id = 1
        self.refused_fact_count = 0
        self.storage_problem = ""
        """Why facts cannot be stored at present, for the user; empty if they can."""
        self._pending_facts: deque[Fact] = deque()
        self._pending_marks: _ReadMarks = {}
        self._snapshot_fact = 0
        self._is_stopping = False
        # Set while nothing is pending: readers wait for it before they confirm their records.
        self._wake_event, self._all_stored = asyncio.Event(), asyncio.Event()
        self._all_stored.set()
        self.on_agent_arrived: Callable[[PaneId], None] = lambda pane: None
        """Called for every pane in which a new agent was found."""
        self.agents_by_pane: dict[PaneId, AgentProcess] = {}
        self._last_agents_by_pane: dict[PaneId, AgentPresence] = {}
        """The previous agent of each pane."""
        self._clock_jump_detector = ClockJumpDetector(clock.now(), clock.monotonic())

    async def restore(self) -> None:
        """Load the snapshot of the last daemon and fold the facts stored after it."""
        stored = await self._store.agent_facts.load_state()
        knowledge, last = _decode_snapshot(stored)
        self._snapshot_fact = last
        while facts := await self._store.agent_facts.list_after(last):
            knowledge, last = apply_facts(knowledge, (fact for _, fact in facts), self.config.thresholds), facts[-1][0]
        sessions = AgentSessions(
            open_sessions={one.runtime: one for one in await self._store.sessions.list_open()},
            last_session_id=stored.last_session,
        )
        projections = {one.state.runtime: one for one in stored.states}
        self.next_agent_process_id, self.source_positions = stored.last_runtime + 1, dict(stored.marks)
        self._read_positions = {(one.runtime, one.watch): one.body for one in stored.bookmarks}
        self._last_agents_by_pane = {
            (state := one.projection.state).pane: AgentPresence(
                agent_process=state.runtime, agent=state.agent, began_at=one.began_at, ended_at=one.ended_at
            )
            for one in reversed(stored.exited)
        }
        self._set_state(
            TrackerState(knowledge=knowledge, projections=projections, sessions=sessions, last_fact=stored.last_fact)
        )
        # An instant in the future means that the clock was set while no daemon ran, so shift all known instants back.
        now, latest_at = self._clock.now(), find_latest_time(knowledge.roster, knowledge.source_slots)
        if latest_at > now + _MAX_FUTURE_NS:
            self.submit_facts([ClockSet(at=now, by=now - latest_at)])

    def submit_facts(
        self, facts: Iterable[Fact], *, position: tuple[str, SourcePosition] | ReadPosition | None = None
    ) -> bool:
        """Buffer facts to be stored in this order; return False without accepting any if the buffer is full.

        ``position`` is how far a source, or a watch of an agent, has been read once these facts are stored.
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
        """Return, only once, how far the last daemon had read a watch of this agent. The caller resumes there."""
        return self._read_positions.pop((agent_process_id, watch), b"")

    def find_agent_in_pane(self, pane: PaneId) -> AgentProcess | None:
        return self.agents_by_pane.get(pane)

    def list_presences(self, pane: PaneId) -> list[AgentPresence]:
        """Return the previous and the current agent of a pane."""
        previous, current = self._last_agents_by_pane.get(pane), self.agents_by_pane.get(pane)
        presences = [previous] if previous is not None else []
        return [*presences, self._build_presence(current)] if current is not None else presences

    def _build_presence(self, agent_process: AgentProcess) -> AgentPresence:
        return AgentPresence(
            agent_process=agent_process.id,
            agent=agent_process.agent,
            version=self.get_version(agent_process.id),
            began_at=agent_process.started_at,
            has_process=bool(agent_process.pid),
        )

    def allocate_agent_process_id(self) -> RuntimeId:
        """Return an id that was never used before."""
        self.next_agent_process_id += 1
        return RuntimeId(self.next_agent_process_id - 1)

    def get_projection(self, agent_process_id: RuntimeId) -> StateProjection | None:
        return self.state.projections.get(agent_process_id)

    def get_session(self, agent_process_id: RuntimeId) -> AgentSession | None:
        return self.state.sessions.open_sessions.get(agent_process_id)

    def get_version(self, agent_process_id: RuntimeId) -> str:
        """Return the version of the agent's program; empty if it is unknown."""
        session = self.get_session(agent_process_id)
        return session.version if session is not None else ""

    async def wait_stored(self) -> None:
        """Wait until all buffered facts are stored and published."""
        await self._all_stored.wait()

    async def run(self) -> None:
        """Store facts until `stop`. Must not be cancelled, because facts being stored already have their numbers."""
        await self._reconcile()
        while not self._is_stopping or self._pending_facts or self._pending_marks:
            await self._wait_for_facts()
            await self._process_batch()
        await self._store_snapshot()

    async def _reconcile(self) -> None:
        """Publish what changed merely with time while no daemon was running."""
        while not self._is_stopping:
            try:
                await self._store_outcome(reconcile_state(self.state, self._clock.now(), self.config), {})
            except StorageError as error:
                # The disk may be full for now. No fact is stored before the states are up to date.
                await self._handle_storage_error(error)
            else:
                return

    def stop(self) -> None:
        self._is_stopping = True
        self._wake_event.set()

    async def _store_snapshot(self) -> None:
        """Store a snapshot of the knowledge, so that the next daemon has few facts to fold."""
        if self._snapshot_fact < self.state.last_fact:
            # Without a snapshot, the next daemon merely has more facts to fold.
            with suppress(StorageError):
                await self._store_outcome(
                    compute_transition(self.state, (), self._clock.now(), self.config), {}, with_snapshot=True
                )

    async def _wait_for_facts(self) -> None:
        deadline = min(self.state.deadlines.values(), default=None)
        seconds = _MAX_WAIT_S if deadline is None else max(0.0, (deadline - self._clock.now()) / NS)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, _MAX_WAIT_S)):
                await self._wake_event.wait()
        self._wake_event.clear()

    async def _process_batch(self) -> None:
        if by := self._clock_jump_detector.detect_jump(self._clock.now(), self._clock.monotonic()):
            log.warning("the system clock was set by %.1f s", by / NS)
            self._pending_facts.appendleft(ClockSet(at=self._clock.now(), by=by))
        facts = [self._pending_facts.popleft() for _ in range(min(_MAX_FACTS_PER_BATCH, len(self._pending_facts)))]
        # Read marks are stored with the last batch only: earlier ones do not contain all facts that they cover.
        marks, self._pending_marks = ({}, self._pending_marks) if self._pending_facts else (self._pending_marks, {})
        try:
            await self._store_outcome(compute_transition(self.state, facts, self._clock.now(), self.config), marks)
        except StorageError as error:
            # Put them back in order. Their numbers were not stored, so the retry allocates them again.
            self._pending_facts.extendleft(reversed(facts))
            self._pending_marks = marks | self._pending_marks
            await self._handle_storage_error(error)
        else:
            self.storage_problem = ""
        if self._pending_facts or self._pending_marks:
            self._wake_event.set()
        else:
            self._all_stored.set()

    async def _handle_storage_error(self, error: StorageError) -> None:
        """Keep the facts and wait before the retry; a daemon that is stopping drops them."""
        if not self.storage_problem:
            log.error("agent facts cannot be stored: %s", error)
        self.storage_problem = f"agent facts cannot be stored: {error}"
        if self._is_stopping:
            self._pending_facts.clear()
            self._pending_marks.clear()
        else:
            await self._clock.sleep(_RETRY_DELAY_S)

    async def _store_outcome(
        self, outcome: TrackingOutcome, read_marks: _ReadMarks, *, with_snapshot: bool = False
    ) -> None:
        """Store the outcome, then publish it."""
        state, batch = outcome.state, outcome.batch
        if with_snapshot or state.last_fact - self._snapshot_fact >= _FACTS_PER_SNAPSHOT:
            batch = replace(
                batch, copy=FactCheckpoint(fact=state.last_fact, at=self._clock.now(), value=state.knowledge)
            )
        source_positions = {str(name): mark for name, mark in read_marks.items() if not isinstance(mark, ReadPosition)}
        events: list[Event] = []
        if batch.facts or batch.states or batch.copy or read_marks:
            events = await self._store.agent_facts.add(
                replace(batch, marks=source_positions, bookmarks=_select_read_positions(read_marks, state))
            )
        self._snapshot_fact = batch.copy.fact if batch.copy else self._snapshot_fact
        self.source_positions |= source_positions
        self._set_state(state)
        self.outcomes.publish(outcome)
        for event in events:
            self._events.publish(event)
        for change in outcome.changes:
            self.state_changes.publish(change)

    def _set_state(self, tracker_state: TrackerState) -> None:
        new: list[PaneId] = []
        if tracker_state.knowledge.roster.agents is not self.state.knowledge.roster.agents:
            agents = tracker_state.knowledge.roster.agents.values()
            current = {agent.runtime.pane: agent.runtime for agent in agents}
            for pane in [pane for pane, process in self.agents_by_pane.items() if process != current.get(pane)]:
                self._last_agents_by_pane[pane] = replace(
                    self._build_presence(self.agents_by_pane[pane]), ended_at=self._clock.now()
                )
            new = [pane for pane, process in current.items() if process != self.agents_by_pane.get(pane)]
            self.agents_by_pane = current
        self.state = tracker_state
        for pane in new:  # after the state is set: the callback reads it
            self.on_agent_arrived(pane)


def _select_read_positions(read_marks: _ReadMarks, tracker_state: TrackerState) -> list[ReadPosition]:
    """Return the read positions of running agents; those of others were removed when they exited."""
    running = tracker_state.knowledge.roster.agents
    return [mark for mark in read_marks.values() if isinstance(mark, ReadPosition) and mark.runtime in running]


def _decode_snapshot(stored: StoredAgentState) -> tuple[AgentKnowledge, int]:
    """Return the stored snapshot and the number of its last fact; empty knowledge if there is none."""
    if not stored.checkpoint_fact:
        return AgentKnowledge(), 0
    try:
        return msgspec.msgpack.decode(stored.copy, type=AgentKnowledge), stored.checkpoint_fact
    except msgspec.DecodeError as error:
        # Written by another version: all stored facts are folded instead.
        log.warning("the stored snapshot of agents is unreadable, rebuilding it from facts: %s", error)
        return AgentKnowledge(), 0
