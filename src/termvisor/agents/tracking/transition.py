"""Compute the next tracker state from a batch of facts, with the events and rows to store and publish. Pure.

Invariant: the same state, facts and instant always give the same outcome; everything published is also stored.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from termvisor.agents.state.published_state import compute_change, compute_state, is_same_value
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS, AgentKnowledge, apply_fact
from termvisor.agents.state.resolver import find_next_change
from termvisor.agents.state.source_slots import EMPTY_SLOT
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking import sessions, state_detections
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.sessions import AgentSessions, ResumeCommandBuilder, SessionEnd
from termvisor.agents.tracking.state_detections import RuleLookup
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentExited, AgentProcess, Fact, PaneClosed
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentFlags, AgentState, StateChange, StateProjection
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import RuntimeId, SignalId
from termvisor.settings import Settings
from termvisor.store.tables.agent_facts import FactBatch, PublishedState, get_fact_time


class TrackingConfig(Struct, frozen=True, kw_only=True):
    thresholds: Thresholds
    build_resume_command: ResumeCommandBuilder = lambda agent, session: ()
    find_rule: RuleLookup = lambda name: None


def build_tracking_config(registry: AdapterRegistry, settings: Settings) -> TrackingConfig:
    """Build the configuration of agent tracking from the adapters and the settings."""
    thresholds = Thresholds(
        sources=registry.sources,
        completed_for=int(settings.agent_completed_for * NS),
        contradicted_after=int(settings.agent_contradicted_after * NS),
        idle_after=int(settings.agent_idle_after * NS),
    )
    return TrackingConfig(thresholds=thresholds, build_resume_command=registry.build_resume_command)


class TrackerState(Struct, frozen=True, kw_only=True):
    """The knowledge about agents, and the part of it that was published."""

    knowledge: AgentKnowledge = AgentKnowledge()
    projections: dict[RuntimeId, StateProjection] = {}
    """The last published state of every running agent process."""
    deadlines: dict[RuntimeId, int] = {}
    """When each state may change merely with time."""
    sessions: AgentSessions = AgentSessions()
    last_fact: int = 0


class TrackingOutcome(Struct, frozen=True, kw_only=True):
    state: TrackerState
    batch: FactBatch
    changes: tuple[StateChange, ...] = ()
    bound_signals: tuple[tuple[RuntimeId, Signal], ...] = ()
    """The signals that were applied, with their agent process."""


def compute_transition(
    tracker_state: TrackerState, facts: Iterable[Fact], now: int, config: TrackingConfig
) -> TrackingOutcome:
    """Apply facts, and changes due to the passage of time, at this instant."""
    transition = _start_transition(tracker_state, config)
    for fact in facts:
        transition.add_fact(fact)
    return transition.build_outcome({number for number, at in tracker_state.deadlines.items() if at <= now}, now)


def reconcile_state(tracker_state: TrackerState, now: int, config: TrackingConfig) -> TrackingOutcome:
    """Recompute all states after a restart, and end agents and sessions that are no longer known."""
    transition = _start_transition(tracker_state, config)
    running = set(transition.agents)
    transition.ended_agents = dict.fromkeys(tracker_state.projections.keys() - running, now)
    for number in sorted(tracker_state.sessions.open_sessions.keys() - running):
        transition.update_sessions(sessions.end_session(transition.state.sessions, number, now, SessionEnd("manual")))
    return transition.build_outcome(running, now)


class _Transition(Struct):
    """Collects the changes of one batch."""

    state: TrackerState
    config: TrackingConfig
    agents: dict[RuntimeId, AgentProcess]
    """Every agent process that ran during the batch."""
    numbered_facts: list[tuple[int, Fact]] = field(default_factory=list)
    changed_sessions: dict[int, AgentSession] = field(default_factory=dict)
    ended_agents: dict[RuntimeId, int] = field(default_factory=dict)
    exit_codes: dict[RuntimeId, int | None] = field(default_factory=dict)
    changed_agents: set[RuntimeId] = field(default_factory=set)
    bound_signals: list[tuple[RuntimeId, Signal]] = field(default_factory=list)
    screen_detections: list[Detection] = field(default_factory=list)
    """Detections of screen rules that did not match the previous screen."""

    def add_fact(self, fact: Fact) -> None:
        number = self.state.last_fact + 1
        fact = replace(fact, id=SignalId(number)) if isinstance(fact, Signal) else fact
        before = self.state.knowledge
        after = apply_fact(before, fact, self.config.thresholds)
        self.numbered_facts.append((number, fact))
        self.state = replace(self.state, knowledge=after, last_fact=number)
        # The order matters: a signal may belong to a session that starts with the same fact, and an end comes last.
        self._record_started(before, after)
        self._record_signals(before, after, fact)
        self._record_ended(before, after, fact)
        if isinstance(fact, PaneClosed):
            self.update_sessions(sessions.mark_pane_closed(self.state.sessions, fact.pane, fact.at))
        # Reachability and a session without a known owner may change the state of any agent.
        old_doubts, new_doubts = before.roster.unattributed_sessions, after.roster.unattributed_sessions
        if before.unreachable != after.unreachable or old_doubts is not new_doubts:
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
        """Record the applied signals: this one, and pending ones whose agent process is now known."""
        if before.source_slots is after.source_slots:
            return
        changed = [number for number, one in after.source_slots.items() if before.source_slots.get(number) is not one]
        self.changed_agents.update(changed)
        candidates = [*(signal for signal in before.pending if signal not in after.pending), fact]
        for number in changed:
            for signal in candidates:
                if isinstance(signal, Signal) and _is_signal_applied(before, after, number, signal):
                    self._record_signal(before, number, signal)

    def _record_signal(self, before: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal) -> None:
        self.bound_signals.append((agent_process_id, signal))
        if "rule" in signal.payload:
            slots = before.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS).slots
            previous = slots.get(signal.source, EMPTY_SLOT)
            found = state_detections.detect_screen_rule(
                self.agents[agent_process_id], signal, previous, self.config.find_rule
            )
            self.screen_detections += [found] if found is not None else []
        self.update_sessions(
            sessions.apply_session_signal(
                self.state.sessions, agent_process_id, signal, self.config.build_resume_command
            )
        )

    def _record_ended(self, before: AgentKnowledge, after: AgentKnowledge, fact: Fact) -> None:
        for number in before.roster.agents.keys() - after.roster.agents.keys():
            at = self.ended_agents[number] = get_fact_time(fact)
            last = compute_state(before, number, at, self.config.thresholds)
            self.exit_codes[number] = fact.exit_code if isinstance(fact, AgentExited) else None
            end = sessions.derive_session_end(last, fact, at)
            self.update_sessions(sessions.end_session(self.state.sessions, number, at, end))

    def update_sessions(self, update: sessions.SessionUpdate) -> None:
        agent_sessions, changed = update
        self.state = replace(self.state, sessions=agent_sessions)
        self.changed_sessions.update((one.id, one) for one in changed)

    def build_outcome(self, due: set[RuntimeId], now: int) -> TrackingOutcome:
        state, running = self.state, self.state.knowledge.roster.agents
        due_agents = sorted((self.changed_agents | due) & running.keys())
        changes = [change for number in due_agents if (change := self._compute_change(number, now))]
        changes += [self._build_end_change(number, at) for number, at in sorted(self.ended_agents.items())]
        rows = [self._build_published_row(change) for change in changes]
        projections = {**state.projections, **{row.projection.state.runtime: row.projection for row in rows}}
        deadlines = {**state.deadlines, **{number: self._find_deadline(number, now) for number in due_agents}}
        return TrackingOutcome(
            state=replace(
                state,
                projections={number: one for number, one in projections.items() if number in running},
                deadlines={number: at for number, at in deadlines.items() if number in running and at},
            ),
            batch=FactBatch(
                facts=self.numbered_facts,
                states=rows,
                sessions=list(self.changed_sessions.values()),
                events=[event for change in changes if (event := self._build_event(change))],
                detections=self._collect_detections(changes),
            ),
            changes=tuple(changes),
            bound_signals=tuple(self.bound_signals),
        )

    def _compute_change(self, agent_process_id: RuntimeId, now: int) -> StateChange | None:
        state = compute_state(self.state.knowledge, agent_process_id, now, self.config.thresholds)
        return compute_change(self.state.projections.get(agent_process_id), state, now)

    def _build_end_change(self, agent_process_id: RuntimeId, at: int) -> StateChange:
        """Build the final change of an agent process, after which its pane has no agent."""
        current = self.state.projections.get(agent_process_id)
        if current is not None:
            last = current.state
        else:
            agent = self.agents[agent_process_id]
            last = AgentState(runtime=agent.id, pane=agent.pane, agent=agent.agent)
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

    def _find_deadline(self, agent_process_id: RuntimeId, now: int) -> int:
        """Return when the state may change merely with time; 0 if it cannot."""
        slots = self.state.knowledge.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS)
        return find_next_change(slots, self.agents[agent_process_id].agent, now, self.config.thresholds) or 0

    def _build_published_row(self, change: StateChange) -> PublishedState:
        agent_process, last = self.agents.get(change.after.runtime), self.state.projections.get(change.after.runtime)
        changed_at = last.changed_at if last is not None and is_same_value(last.state, change.after) else change.at
        return PublishedState(
            projection=StateProjection(version=change.version, state=change.after, changed_at=changed_at),
            began_at=agent_process.started_at if agent_process is not None else change.at,
            ended_at=self.ended_agents.get(change.after.runtime),
        )

    def _build_event(self, change: StateChange) -> Event | None:
        number = change.after.runtime
        if number in self.ended_agents:
            ended = [one for one in self.changed_sessions.values() if one.runtime == number and one.ended_at]
            reason = self._find_proven_end_reason(ended[-1]) if ended else None
            return build_ended_event(change, reason, self.exit_codes.get(number))
        if change.before is None:
            return build_began_event(change, self.agents[number])
        return build_changed_event(change)

    def _collect_detections(self, changes: Sequence[StateChange]) -> list[Detection]:
        running = (change for change in changes if change.after.runtime not in self.ended_agents)
        ended = (one for one in self.changed_sessions.values() if one.ended_at is not None)
        return [
            *self.screen_detections,
            *(
                detection
                for change in running
                for detection in state_detections.detect_flag_changes(change, self._find_shown_login(change))
            ),
            *(state_detections.detect_session_end(one, self._find_proven_end_reason(one)) for one in ended),
        ]

    def _find_shown_login(self, change: StateChange) -> str:
        """Return the event of the screen rule that alone reports a needed login; empty if a source reports it."""
        slots = self.state.knowledge.source_slots.get(change.after.runtime, EMPTY_SOURCE_SLOTS).slots.values()
        reporting = [slot for slot in slots if (flag := slot.flags.get("auth_needed")) is not None and flag.is_set]
        rules = [self.config.find_rule(slot.rule) if slot.rule else None for slot in reporting]
        return next((rule.event for rule in rules if rule is not None), "") if None not in rules else ""

    def _find_proven_end_reason(self, ended_session: AgentSession) -> EndReason | None:
        """Return the end reason; None for an error that is unproven, because the pane may be closing as well."""
        abrupt_end = self.state.sessions.abrupt_ends.get(ended_session.pane)
        is_abrupt = abrupt_end is not None and abrupt_end.id == ended_session.id
        return None if is_abrupt and ended_session.end_reason == "error" else ended_session.end_reason


def _start_transition(tracker_state: TrackerState, config: TrackingConfig) -> _Transition:
    running = {number: agent.runtime for number, agent in tracker_state.knowledge.roster.agents.items()}
    return _Transition(state=tracker_state, config=config, agents=running)


def _is_signal_applied(
    before: AgentKnowledge, after: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal
) -> bool:
    """Return True if the last fact applied the signal to this agent process's source slots."""
    slot_before = before.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS).slots.get(signal.source)
    slot_after = after.source_slots[agent_process_id].slots.get(signal.source)
    if slot_after is None or slot_after is slot_before or signal.dedupe_key not in slot_after.seen_signals.seen:
        return False
    return slot_before is None or signal.dedupe_key not in slot_before.seen_signals.seen


def build_began_event(change: StateChange, agent_process: AgentProcess) -> Event:
    return _build_agent_event("agent_began", change, {"pid": agent_process.pid})


def build_ended_event(change: StateChange, reason: EndReason | None, exit_code: int | None = None) -> Event:
    code: dict[str, Scalar] = {} if exit_code is None else {"exit_code": exit_code}
    return _build_agent_event("agent_ended", change, {"end_reason": reason, **code})


def build_changed_event(change: StateChange) -> Event | None:
    """Build the event for a change; None if no visible field changed, as when another source reports the same state."""
    before, after = change.before, change.after
    if before is not None and _get_visible_fields(before) == _get_visible_fields(after):
        return None
    data: dict[str, Scalar] = {
        "before": before.value if before is not None else None,
        "after": after.value,
        "tier": after.evidence_mode,
        "source": after.source,
        "evidence": after.evidence,
        "confidence": after.confidence,
        "version": change.version,
    }
    return _build_agent_event("state_changed", change, data | _collect_flags(after))


def _build_agent_event(kind: str, change: StateChange, data: dict[str, Scalar]) -> Event:
    agent: dict[str, Scalar] = {"runtime": change.after.runtime, "agent": change.after.agent}
    return Event(at=change.at, kind=kind, pane=change.after.pane, data=agent | data)


def _get_visible_fields(state: AgentState) -> tuple[object, ...]:
    return state.value, state.reason, state.flags, state.presence


def _collect_flags(state: AgentState) -> dict[str, Scalar]:
    """Return the flags that are set, and why the state is unknown."""
    flags = state.flags
    values: dict[str, Scalar] = {
        "reason": state.reason,
        "usage_limited": flags.usage_limited,
        "resets_at": flags.resets_at,
        "compacting": flags.compacting,
        "auth_needed": flags.auth_needed,
        "subtasks": flags.subtasks,
        "contradicted": flags.contradicted.state if flags.contradicted is not None else None,
        "ambiguous": flags.ambiguous,
    }
    return {name: value for name, value in values.items() if value}
