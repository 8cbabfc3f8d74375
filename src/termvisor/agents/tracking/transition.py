"""One turn of knowing: facts come in, and out come what is known now and what is to be stored and told. Pure.

Invariant: the same standing, facts and instant always give the same outcome; nothing is told that is not also stored.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.published_state import compute_change, compute_state
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS, AgentKnowledge, apply_fact
from termvisor.agents.state.resolver import find_next_change
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking import agent_events, sessions, state_detections
from termvisor.agents.tracking.sessions import AgentSessions, ResumeCommandBuilder
from termvisor.agents.tracking.state_detections import RuleLookup
from termvisor.model.agent.agent_process import AgentProcess, Fact, PaneClosed
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentFlags, AgentState, StateChange, StateProjection
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId, SignalId
from termvisor.store.tables.agent_facts import FactBatch, PublishedState, get_fact_time


class TrackingConfig(Struct, frozen=True, kw_only=True):
    """What evidence is measured by, and how sessions are taken up again."""

    thresholds: Thresholds
    build_resume_command: ResumeCommandBuilder = lambda agent, session: ()
    rules: RuleLookup = lambda name: None


class TrackerState(Struct, frozen=True, kw_only=True):
    """All that is known and was told."""

    knowledge: AgentKnowledge = AgentKnowledge()
    projections: dict[RuntimeId, StateProjection] = {}
    """As they were last published, of runtimes that live."""
    deadlines: dict[RuntimeId, int] = {}
    """When each state may change by itself."""
    story: AgentSessions = AgentSessions()
    last_fact: int = 0


class TrackingOutcome(Struct, frozen=True, kw_only=True):
    state: TrackerState
    turn: FactBatch
    changes: tuple[StateChange, ...] = ()
    bound_signals: tuple[tuple[RuntimeId, Signal], ...] = ()
    """The signals that counted, and for whom."""


class _Transition(Struct):
    """What happens within one turn."""

    state: TrackerState
    config: TrackingConfig
    numbered_facts: list[tuple[int, Fact]] = []
    changed_sessions: dict[int, AgentSession] = {}
    agents: dict[RuntimeId, AgentProcess] = {}
    """Every runtime that lived during the turn."""
    ended_agents: dict[RuntimeId, int] = {}
    changed_agents: set[RuntimeId] = set()
    bound_signals: list[tuple[RuntimeId, Signal]] = []
    screen_detections: list[Detection] = []
    """What screens show that they did not show before."""

    def add_fact(self, fact: Fact) -> None:
        number = self.state.last_fact + 1
        known = replace(fact, id=SignalId(number)) if isinstance(fact, Signal) else fact
        before = self.state.knowledge
        after = apply_fact(before, known, self.config.thresholds)
        self.numbered_facts.append((number, known))
        self.state = replace(self.state, knowledge=after, last_fact=number)
        self._record_started(before, after)
        self._record_signals(before, after, known)
        self._record_ended(before, after, known)
        if isinstance(fact, PaneClosed):
            self.update_sessions(sessions.mark_pane_closed(self.state.story, fact.pane, fact.at))
        if before.unreachable != after.unreachable or before.roster.doubts is not after.roster.doubts:
            self.changed_agents.update(after.roster.tenants)

    def _record_started(self, before: AgentKnowledge, after: AgentKnowledge) -> None:
        if before.roster.tenants is after.roster.tenants:
            return
        for number, tenant in after.roster.tenants.items():
            if number not in before.roster.tenants:
                self.agents[number] = tenant.runtime
                self.changed_agents.add(number)
                self.update_sessions(sessions.start_session(self.state.story, tenant.runtime))

    def _record_signals(self, before: AgentKnowledge, after: AgentKnowledge, fact: Fact) -> None:
        """Who waited for a runtime may have found it now."""
        if before.ledgers is after.ledgers:
            return
        changed = [number for number, one in after.ledgers.items() if before.ledgers.get(number) is not one]
        self.changed_agents.update(changed)
        heard = [*(one for one in before.pending if one not in after.pending), fact]
        for number in changed:
            for signal in heard:
                if isinstance(signal, Signal) and _is_signal_applied(before, after, number, signal):
                    self.bound_signals.append((number, signal))
                    self._record_screen_rule(before, number, signal)
                    told = sessions.apply_session_signal(
                        self.state.story, number, signal, self.config.build_resume_command
                    )
                    self.update_sessions(told)

    def _record_screen_rule(self, before: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal) -> None:
        if "rule" not in signal.payload or agent_process_id not in self.agents:
            return
        slot = before.ledgers.get(agent_process_id, EMPTY_SOURCE_SLOTS).slots.get(signal.source)
        last = slot.rule if slot is not None else ""
        if (
            found := state_detections.detect_screen_rule(self.agents[agent_process_id], signal, last, self.config.rules)
        ) is not None:
            self.screen_detections.append(found)

    def _record_ended(self, before: AgentKnowledge, after: AgentKnowledge, fact: Fact) -> None:
        for number in before.roster.tenants.keys() - after.roster.tenants.keys():
            at = get_fact_time(fact)
            last = compute_state(before, number, at, self.config.thresholds)
            why = sessions.derive_end_reason(last, is_pane_gone=isinstance(fact, PaneClosed))
            self.ended_agents[number] = at
            self.update_sessions(sessions.end_session(self.state.story, number, at, why))

    def update_sessions(self, update: sessions.SessionUpdate) -> None:
        story, changed = update
        self.state = replace(self.state, story=story)
        self.changed_sessions.update((one.id, one) for one in changed)


def compute_transition(
    tracker_state: TrackerState, facts: Iterable[Fact], now: int, config: TrackingConfig
) -> TrackingOutcome:
    """What follows from these facts, and from time alone, at this instant."""
    lives = {number: tenant.runtime for number, tenant in tracker_state.knowledge.roster.tenants.items()}
    course = _Transition(state=tracker_state, config=config, agents=lives)
    for fact in facts:
        course.add_fact(fact)
    due = {number for number, at in tracker_state.deadlines.items() if at <= now}
    return _build_outcome(course, due, now)


def reconcile_state(tracker_state: TrackerState, now: int, config: TrackingConfig) -> TrackingOutcome:
    """Everything anew: what time did while nobody watched, and runtimes of which nothing is known any more."""
    lives = {number: tenant.runtime for number, tenant in tracker_state.knowledge.roster.tenants.items()}
    course = _Transition(state=tracker_state, config=config, agents=lives)
    course.ended_agents = dict.fromkeys(tracker_state.projections.keys() - lives.keys(), now)
    for number in sorted(tracker_state.story.going_on.keys() - lives.keys()):
        course.update_sessions(sessions.end_session(course.state.story, number, now, "manual"))
    return _build_outcome(course, set(lives), now)


def _build_outcome(transition: _Transition, due: set[RuntimeId], now: int) -> TrackingOutcome:
    standing, terms = transition.state, transition.config
    living = sorted((transition.changed_agents | due) & standing.knowledge.roster.tenants.keys())
    changes = [change for number in living if (change := _compute_change(standing, number, now, terms.thresholds))]
    changes += [
        _build_end_change(standing, number, transition, at) for number, at in sorted(transition.ended_agents.items())
    ]
    projections = {**standing.projections, **{one.after.runtime: _build_projection(one) for one in changes}}
    deadlines = {**standing.deadlines, **{number: _find_deadline(standing, number, now, terms) for number in living}}
    events = [event for change in changes if (event := _build_event(change, transition))]
    turn = FactBatch(
        facts=transition.numbered_facts,
        states=[_build_published_row(one, transition) for one in changes],
        sessions=list(transition.changed_sessions.values()),
        events=events,
        detections=_collect_detections(transition, changes),
    )
    alive = standing.knowledge.roster.tenants
    known = replace(
        standing,
        projections={number: one for number, one in projections.items() if number in alive},
        deadlines={number: at for number, at in deadlines.items() if number in alive and at},
    )
    return TrackingOutcome(
        state=known, turn=turn, changes=tuple(changes), bound_signals=tuple(transition.bound_signals)
    )


def _collect_detections(transition: _Transition, changes: Sequence[StateChange]) -> list[Detection]:
    going_on = (change for change in changes if change.after.runtime not in transition.ended_agents)
    told = [found for change in going_on for found in state_detections.detect_flag_changes(change)]
    story = transition.state.story
    over = (one for one in transition.changed_sessions.values() if one.ended_at is not None)
    return [
        *transition.screen_detections,
        *told,
        *(state_detections.detect_session_end(one, _find_proven_end_reason(one, story)) for one in over),
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
    """The last word on a runtime: there is no agent any more."""
    current = tracker_state.projections.get(agent_process_id)
    last = current.state if current is not None else _build_unheard_state(transition.agents[agent_process_id])
    over = replace(
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
    return StateChange(at=at, version=version, before=current.state if current is not None else None, after=over)


def _build_unheard_state(agent_process: AgentProcess) -> AgentState:
    return AgentState(runtime=agent_process.id, pane=agent_process.pane, agent=agent_process.agent, reason="no_signal")


def _find_deadline(tracker_state: TrackerState, agent_process_id: RuntimeId, now: int, config: TrackingConfig) -> int:
    """0 where time alone changes nothing."""
    ledger = tracker_state.knowledge.ledgers.get(agent_process_id, EMPTY_SOURCE_SLOTS)
    agent = tracker_state.knowledge.roster.tenants[agent_process_id].runtime.agent
    return find_next_change(ledger, agent, now, config.thresholds) or 0


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
        over = [one for one in transition.changed_sessions.values() if one.runtime == number and one.ended_at]
        return agent_events.build_ended_event(
            change, _find_proven_end_reason(over[-1], transition.state.story) if over else None
        )
    if change.before is None:
        return agent_events.build_began_event(change, transition.agents[number])
    return agent_events.build_changed_event(change)


def _find_proven_end_reason(ended_session: AgentSession, agent_sessions: AgentSessions) -> EndReason | None:
    """None where nobody has said why it broke off: perhaps its pane is about to go, too. The session tells it then."""
    broken_off = agent_sessions.broken_off.get(ended_session.pane)
    return None if broken_off is not None and broken_off.id == ended_session.id else ended_session.end_reason


def _is_signal_applied(
    before: AgentKnowledge, after: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal
) -> bool:
    """Whether this runtime's ledger has heard the signal just now."""
    old, now = before.ledgers.get(agent_process_id, EMPTY_SOURCE_SLOTS), after.ledgers[agent_process_id]
    had, has = old.slots.get(signal.source), now.slots.get(signal.source)
    is_new = had is None or signal.dedupe_key not in had.memory.seen
    return has is not None and has is not had and is_new and signal.dedupe_key in has.memory.seen
