"""Fold stored facts into the knowledge about all agents (`AgentKnowledge`).

Invariant: the result depends only on the facts and their order. So live knowledge equals knowledge rebuilt from the
store, and a stored snapshot can be continued with later facts.
"""

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from termvisor.agents.state import clock_change, signal_binding
from termvisor.agents.state.signal_admission import find_rejection_reason
from termvisor.agents.state.signal_binding import AgentRoster, UnboundSignal
from termvisor.agents.state.source_slots import SourceSlots, apply_signal
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent import agent_process
from termvisor.model.agent.signal import DropReason, Signal
from termvisor.model.ids import RuntimeId, TargetName


class AgentKnowledge(Struct, frozen=True, kw_only=True):
    roster: AgentRoster = AgentRoster()
    source_slots: dict[RuntimeId, SourceSlots] = field(default_factory=dict, name="ledgers")
    pending: tuple[Signal, ...] = ()
    """Signals whose agent process is not known yet."""
    unreachable: tuple[TargetName, ...] = ()
    dropped: dict[DropReason, int] = {}
    """How many signals were dropped, by reason."""


EMPTY_SOURCE_SLOTS = SourceSlots()


def apply_facts(
    knowledge: AgentKnowledge, facts: Iterable[agent_process.Fact], thresholds: Thresholds
) -> AgentKnowledge:
    for fact in facts:
        knowledge = apply_fact(knowledge, fact, thresholds)
    return knowledge


def apply_fact(knowledge: AgentKnowledge, fact: agent_process.Fact, thresholds: Thresholds) -> AgentKnowledge:
    """Return the knowledge after one more fact."""
    if isinstance(fact, Signal):
        return _apply_signal(_drop_expired_signals(knowledge, fact.ingested_at, thresholds), fact, thresholds)
    if isinstance(fact, agent_process.ClockSet):
        return _shift_clock(knowledge, fact.by)
    knowledge = _drop_expired_signals(knowledge, fact.at, thresholds)
    match fact:
        case agent_process.AgentStarted():
            roster = signal_binding.add_agent(knowledge.roster, fact.runtime, fact.at, thresholds)
            return _retry_pending_signals(_drop_ended_agents(knowledge, roster), thresholds)
        case agent_process.AgentExited():
            roster = signal_binding.remove_agent(knowledge.roster, fact.runtime, fact.at, thresholds)
            return _drop_ended_agents(knowledge, roster)
        case agent_process.PaneClosed():
            roster = signal_binding.remove_pane(knowledge.roster, fact.pane, fact.at, thresholds)
            return _drop_ended_agents(knowledge, roster)
        case agent_process.OutputMissed():
            agents = knowledge.roster.agents
            slots_by_agent = {
                number: replace(slots, output_missed_at=fact.at) if agents[number].runtime.pane == fact.pane else slots
                for number, slots in knowledge.source_slots.items()
            }
            return replace(knowledge, source_slots=slots_by_agent)
        case agent_process.TargetReachability():
            others = tuple(name for name in knowledge.unreachable if name != fact.target)
            return replace(knowledge, unreachable=others if fact.is_reachable else (*others, fact.target))


def _shift_clock(knowledge: AgentKnowledge, by: int) -> AgentKnowledge:
    return replace(
        knowledge,
        roster=clock_change.shift_roster(knowledge.roster, by),
        source_slots={
            runtime: clock_change.shift_source_slots(slots, by) for runtime, slots in knowledge.source_slots.items()
        },
        pending=tuple(clock_change.shift_signal(signal, by) for signal in knowledge.pending),
    )


def _apply_signal(knowledge: AgentKnowledge, signal: Signal, thresholds: Thresholds) -> AgentKnowledge:
    if (reason := find_rejection_reason(signal, thresholds)) is not None:
        return _count_dropped(knowledge, reason)
    owner = signal_binding.bind_signal(knowledge.roster, signal, thresholds)
    if isinstance(owner, UnboundSignal):
        if signal.hint.is_doubtful and owner.why == "binding_conflict":
            knowledge = replace(knowledge, roster=signal_binding.add_unattributed_session(knowledge.roster, signal))
        if len(knowledge.pending) >= thresholds.max_pending_signals:
            return _count_dropped(knowledge, owner.why)
        return replace(knowledge, pending=(*knowledge.pending, signal))
    if isinstance(owner, str):
        return _count_dropped(knowledge, owner)
    return _record_signal(knowledge, owner, signal, thresholds)


def _record_signal(
    knowledge: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal, thresholds: Thresholds
) -> AgentKnowledge:
    slots, reason = apply_signal(knowledge.source_slots.get(agent_process_id, EMPTY_SOURCE_SLOTS), signal, thresholds)
    if reason is not None:
        return _count_dropped(knowledge, reason)
    roster = signal_binding.add_session(knowledge.roster, agent_process_id, signal.session)
    known = replace(knowledge, roster=roster, source_slots={**knowledge.source_slots, agent_process_id: slots})
    # A pending signal of the same session belongs to this agent process as well.
    if roster is not knowledge.roster and known.pending:
        known = _retry_pending_signals(known, thresholds)
    if signal.kind != "exited":
        return known
    return _drop_ended_agents(
        known, signal_binding.remove_agent(known.roster, agent_process_id, signal.ingested_at, thresholds)
    )


def _drop_ended_agents(knowledge: AgentKnowledge, roster: AgentRoster) -> AgentKnowledge:
    """Set the roster and drop the source slots of agents that are no longer in it."""
    slots_by_agent = {runtime: slots for runtime, slots in knowledge.source_slots.items() if runtime in roster.agents}
    return replace(knowledge, roster=roster, source_slots=slots_by_agent)


def _retry_pending_signals(knowledge: AgentKnowledge, thresholds: Thresholds) -> AgentKnowledge:
    """Apply pending signals again after an agent started or reported a session: they may belong to it."""
    pending, knowledge = knowledge.pending, replace(knowledge, pending=())
    for signal in pending:
        knowledge = _apply_signal(knowledge, signal, thresholds)
    return knowledge


def _drop_expired_signals(knowledge: AgentKnowledge, now: int, thresholds: Thresholds) -> AgentKnowledge:
    """Drop and count the signals that have been pending too long."""
    expired = [signal for signal in knowledge.pending if now - signal.ingested_at > thresholds.pending_for]
    if not expired:
        return knowledge
    pending = tuple(signal for signal in knowledge.pending if now - signal.ingested_at <= thresholds.pending_for)
    knowledge = replace(knowledge, pending=pending)
    for signal in expired:
        # Bind once more to find the reason, because agents may have started or exited in the meantime.
        owner = signal_binding.bind_signal(knowledge.roster, signal, thresholds)
        knowledge = _count_dropped(knowledge, owner.why if isinstance(owner, UnboundSignal) else "dropped_unbound")
    return knowledge


def _count_dropped(knowledge: AgentKnowledge, reason: DropReason) -> AgentKnowledge:
    return replace(knowledge, dropped={**knowledge.dropped, reason: knowledge.dropped.get(reason, 0) + 1})
