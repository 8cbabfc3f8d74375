"""Compute the next tracker state from a batch of facts, and what has to be stored and published. Pure.

Invariant: the same state, facts and instant always give the same outcome; everything published is also stored.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.published_state import compute_change, compute_state
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS, AgentKnowledge, apply_fact
from termvisor.agents.state.resolver import find_next_change
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking import agent_events, sessions, state_detections
from termvisor.agents.tracking.sessions import AgentSessions
from termvisor.agents.tracking.tracking_config import TrackingConfig
from termvisor.model.agent.agent_process import AgentProcess, Fact, PaneClosed
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentFlags, AgentState, StateChange, StateProjection
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId, SignalId
from termvisor.store.tables.agent_facts import FactBatch, PublishedState, get_fact_time


class TrackerState(Struct, frozen=True, kw_only=True):
    """The knowledge about agents, and what was published of it."""

    knowledge: AgentKnowledge = AgentKnowledge()
    projections: dict[RuntimeId, StateProjection] = {}
    """The last published state of every running agent process."""
    deadlines: dict[RuntimeId, int] = {}
    """When each state may change by time alone."""
    sessions: AgentSessions = AgentSessions()
    last_fact: int = 0


class TrackingOutcome(Struct, frozen=True, kw_only=True):
    state: TrackerState
    batch: FactBatch
    changes: tuple[StateChange, ...] = ()
    bound_signals: tuple[tuple[RuntimeId, Signal], ...] = ()
    """The signals that were applied, with their agent process."""


class _Transition(Struct):
    """Collects the changes of one batch."""

    state: TrackerState
    config: TrackingConfig
    numbered_facts: list[tuple[int, Fact]] = []
    changed_sessions: dict[int, AgentSession] = {}
    agents: dict[RuntimeId, AgentProcess] = {}
    """Every agent process that ran during the batch."""
    ended_agents: dict[RuntimeId, int] = {}
    changed_agents: set[RuntimeId] = set()
    bound_signals: list[tuple[RuntimeId, Signal]] = []
    screen_detections: list[Detection] = []
    """Detections of screen rules that did not match the screen before."""

    def add_fact(self, fact: Fact) -> None:
        number = self.state.last_fact + 1
        fact = replace(fact, id=SignalId(number)) if isinstance(fact, Signal) else fact
        before = self.state.knowledge
        after = apply_fact(before, fact, self.config.thresholds)
        self.numbered_facts.append((number, fact))
        self.state = replace(self.state, knowledge=after, last_fact=number)
        self._record_started(before, after)
        self._record_signals(before, after, fact)
        self._record_ended(before, after, fact)
        if isinstance(fact, PaneClosed):
            self.update_sessions(sessions.mark_pane_closed(self.state.sessions, fact.pane, fact.at))
        if (
            before.unreachable != after.unreachable
            or before.roster.unattributed_sessions is not after.roster.unattributed_sessions
        ):
            self.changed_agents.update(after.roster.agents)

    def _record_started(self, before: AgentKnowledge, after: AgentKnowledge) -> None:
        if before.roster.agents is after.roster.agents:
            return
        for number, bound_agent in after.roster.agents.items():
            if number not in before.roster.agents:
                self.agents[number] = bound_agent.runtime
                self.changed_agents.add(number)
                self.update_sessions(sessions.start_session(self.state.sessions, bound_agent.runtime))

    def _record_signals(self, before: AgentKnowledge, after: AgentKnowledge, fact: Fact) -> None:
        """Record the applied signals: this one, and pending ones that found their agent process now."""
        if before.source_slots is after.source_slots:
            return
        changed = [number for number, one in after.source_slots.items() if before.source_slots.get(number) is not one]
        self.changed_agents.update(changed)
        candidates = [*(signal for signal in before.pending if signal not in after.pending), fact]
        for number in changed:
            for signal in candidates:
                if isinstance(signal, Signal) and _is_signal_applied(before, after, number, signal):
                    self.bound_signals.append((number, signal))
                    self._record_screen_rule(before, number, signal)
                    update = sessions.apply_session_signal(
                        self.state.sessions, number, signal, self.config.build_resume_command
                    )
                    self.update_sessions(update)

    def _record_screen_rule(self, before: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal) -> None:
        if "rule" not in signal.payload or agent_process_id not in self.agents:
            return
        slot = before.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS).slots.get(signal.source)
        last = slot.rule if slot is not None else ""
        if (
            detection := state_detections.detect_screen_rule(
                self.agents[agent_process_id], signal, last, self.config.find_rule
            )
        ) is not None:
            self.screen_detections.append(detection)

    def _record_ended(self, before: AgentKnowledge, after: AgentKnowledge, fact: Fact) -> None:
        for number in before.roster.agents.keys() - after.roster.agents.keys():
            at = get_fact_time(fact)
            last = compute_state(before, number, at, self.config.thresholds)
            reason = sessions.derive_end_reason(last, is_pane_gone=isinstance(fact, PaneClosed))
            self.ended_agents[number] = at
            self.update_sessions(sessions.end_session(self.state.sessions, number, at, reason))

    def update_sessions(self, update: sessions.SessionUpdate) -> None:
        agent_sessions, changed = update
        self.state = replace(self.state, sessions=agent_sessions)
        self.changed_sessions.update((one.id, one) for one in changed)


def compute_transition(
    tracker_state: TrackerState, facts: Iterable[Fact], now: int, config: TrackingConfig
) -> TrackingOutcome:
    """Apply facts, and what changes by time alone, at this instant."""
    running = {number: agent.runtime for number, agent in tracker_state.knowledge.roster.agents.items()}
    transition = _Transition(state=tracker_state, config=config, agents=running)
    for fact in facts:
        transition.add_fact(fact)
    due = {number for number, at in tracker_state.deadlines.items() if at <= now}
    return _build_outcome(transition, due, now)


def reconcile_state(tracker_state: TrackerState, now: int, config: TrackingConfig) -> TrackingOutcome:
    """Recompute all states after a restart, and end agents and sessions that are no longer known."""
    running = {number: agent.runtime for number, agent in tracker_state.knowledge.roster.agents.items()}
    transition = _Transition(state=tracker_state, config=config, agents=running)
    transition.ended_agents = dict.fromkeys(tracker_state.projections.keys() - running.keys(), now)
    for number in sorted(tracker_state.sessions.open_sessions.keys() - running.keys()):
        transition.update_sessions(sessions.end_session(transition.state.sessions, number, now, "manual"))
    return _build_outcome(transition, set(running), now)


def _build_outcome(transition: _Transition, due: set[RuntimeId], now: int) -> TrackingOutcome:
    state, config = transition.state, transition.config
    due_agents = sorted((transition.changed_agents | due) & state.knowledge.roster.agents.keys())
    changes = [change for number in due_agents if (change := _compute_change(state, number, now, config.thresholds))]
    changes += [
        _build_end_change(state, number, transition, at) for number, at in sorted(transition.ended_agents.items())
    ]
    projections = {**state.projections, **{one.after.runtime: _build_projection(one) for one in changes}}
    deadlines = {**state.deadlines, **{number: _find_deadline(state, number, now, config) for number in due_agents}}
    events = [event for change in changes if (event := _build_event(change, transition))]
    batch = FactBatch(
        facts=transition.numbered_facts,
        states=[_build_published_row(one, transition) for one in changes],
        sessions=list(transition.changed_sessions.values()),
        events=events,
        detections=_collect_detections(transition, changes),
    )
    running = state.knowledge.roster.agents
    next_state = replace(
        state,
        projections={number: one for number, one in projections.items() if number in running},
        deadlines={number: at for number, at in deadlines.items() if number in running and at},
    )
    return TrackingOutcome(
        state=next_state, batch=batch, changes=tuple(changes), bound_signals=tuple(transition.bound_signals)
    )


def _collect_detections(transition: _Transition, changes: Sequence[StateChange]) -> list[Detection]:
    running = (change for change in changes if change.after.runtime not in transition.ended_agents)
    flag_changes = [detection for change in running for detection in state_detections.detect_flag_changes(change)]
    agent_sessions = transition.state.sessions
    ended = (one for one in transition.changed_sessions.values() if one.ended_at is not None)
    return [
        *transition.screen_detections,
        *flag_changes,
        *(state_detections.detect_session_end(one, _find_proven_end_reason(one, agent_sessions)) for one in ended),
    ]


def _compute_change(
    tracker_state: TrackerState, agent_process_id: RuntimeId, now: int, thresholds: Thresholds
) -> StateChange | None:
    current = tracker_state.projections.get(agent_process_id)
    state = compute_state(tracker_state.knowledge, agent_process_id, now, thresholds)
    return compute_change(current, current.version if current is not None else 0, state, now)


def _build_end_change(
    tracker_state: TrackerState, agent_process_id: RuntimeId, transition: _Transition, at: int
) -> StateChange:
    """Build the final change of an agent process: its pane has no agent any more."""
    current = tracker_state.projections.get(agent_process_id)
    last = current.state if current is not None else _build_initial_state(transition.agents[agent_process_id])
    final = replace(
        last,
        value="unknown",
        reason="no_signal",
        evidence_mode="none",
        source="",
        evidence=None,
        since=at,
        flags=AgentFlags(),
        confidence="low",
        presence="unmanaged",
        binding="unmanaged",
    )
    version = current.version + 1 if current is not None else 1
    return StateChange(at=at, version=version, before=current.state if current is not None else None, after=final)


def _build_initial_state(agent_process: AgentProcess) -> AgentState:
    return AgentState(runtime=agent_process.id, pane=agent_process.pane, agent=agent_process.agent, reason="no_signal")


def _find_deadline(tracker_state: TrackerState, agent_process_id: RuntimeId, now: int, config: TrackingConfig) -> int:
    """Return when time alone may change the state; 0 if it cannot."""
    slots = tracker_state.knowledge.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS)
    agent = tracker_state.knowledge.roster.agents[agent_process_id].runtime.agent
    return find_next_change(slots, agent, now, config.thresholds) or 0


def _build_projection(change: StateChange) -> StateProjection:
    return StateProjection(version=change.version, state=change.after)


def _build_published_row(change: StateChange, transition: _Transition) -> PublishedState:
    runtime = transition.agents.get(change.after.runtime)
    return PublishedState(
        projection=_build_projection(change),
        began_at=runtime.started_at if runtime is not None else change.at,
        ended_at=transition.ended_agents.get(change.after.runtime),
    )


def _build_event(change: StateChange, transition: _Transition) -> Event | None:
    number = change.after.runtime
    if number in transition.ended_agents:
        ended_sessions = [one for one in transition.changed_sessions.values() if one.runtime == number and one.ended_at]
        return agent_events.build_ended_event(
            change, _find_proven_end_reason(ended_sessions[-1], transition.state.sessions) if ended_sessions else None
        )
    if change.before is None:
        return agent_events.build_began_event(change, transition.agents[number])
    return agent_events.build_changed_event(change)


def _find_proven_end_reason(ended_session: AgentSession, agent_sessions: AgentSessions) -> EndReason | None:
    """Return the end reason; None while it is unproven because the pane may be closing as well."""
    abrupt_end = agent_sessions.abrupt_ends.get(ended_session.pane)
    return None if abrupt_end is not None and abrupt_end.id == ended_session.id else ended_session.end_reason


def _is_signal_applied(
    before: AgentKnowledge, after: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal
) -> bool:
    """Return True if the source slots of this agent process took the signal with the last fact."""
    slot_before = before.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS).slots.get(signal.source)
    slot_after = after.source_slots[agent_process_id].slots.get(signal.source)
    is_new = slot_before is None or signal.dedupe_key not in slot_before.seen_signals.seen
    return (
        slot_after is not None
        and slot_after is not slot_before
        and is_new
        and signal.dedupe_key in slot_after.seen_signals.seen
    )
