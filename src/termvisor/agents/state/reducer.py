"""Knowledge is all that is known of all agents: a fold over stored facts.

Invariant: it depends on the facts and their order alone. So what is live equals what is read again from the store, and
a stored copy of it may be continued with the facts that came later.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import clock_change, signal_binding
from termvisor.agents.state.signal_binding import AgentRoster, UnboundSignal
from termvisor.agents.state.signal_filter import find_rejection_reason
from termvisor.agents.state.source_slots import SourceSlots, apply_signal
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import (
    AgentExited,
    AgentStarted,
    ClockSet,
    Fact,
    OutputMissed,
    PaneClosed,
    TargetReachability,
)
from termvisor.model.agent.signal import DropReason, Signal
from termvisor.model.ids import PaneId, RuntimeId, TargetName


class AgentKnowledge(Struct, frozen=True, kw_only=True):
    roster: AgentRoster = AgentRoster()
    ledgers: dict[RuntimeId, SourceSlots] = {}
    pending: tuple[Signal, ...] = ()
    """Signals whose runtime is not known yet."""
    unreachable: tuple[TargetName, ...] = ()
    dropped: dict[DropReason, int] = {}
    """How many signals changed nothing, and why."""


EMPTY_SOURCE_SLOTS = SourceSlots()


def apply_facts(knowledge: AgentKnowledge, facts: Iterable[Fact], thresholds: Thresholds) -> AgentKnowledge:
    for fact in facts:
        knowledge = apply_fact(knowledge, fact, thresholds)
    return knowledge


def apply_fact(knowledge: AgentKnowledge, fact: Fact, thresholds: Thresholds) -> AgentKnowledge:
    """What is known after one more fact."""
    if isinstance(fact, Signal):
        return _apply_signal(_drop_expired_signals(knowledge, fact.ingested_at, thresholds), fact, thresholds)
    if isinstance(fact, ClockSet):
        return _shift_clock(knowledge, fact.by)
    knowledge = _drop_expired_signals(knowledge, fact.at, thresholds)
    match fact:
        case AgentStarted():
            begun = signal_binding.add_agent(knowledge.roster, fact.runtime, fact.at, thresholds)
            return _retry_pending_signals(_drop_ended_agents(knowledge, begun), thresholds)
        case AgentExited():
            return _drop_ended_agents(
                knowledge, signal_binding.remove_agent(knowledge.roster, fact.runtime, fact.at, thresholds)
            )
        case PaneClosed():
            return _drop_ended_agents(
                knowledge, signal_binding.remove_pane(knowledge.roster, fact.pane, fact.at, thresholds)
            )
        case OutputMissed():
            return _mark_output_missing(knowledge, fact.pane, fact.at)
        case TargetReachability():
            return _update_reachability(knowledge, fact)


def find_latest_fact_time(knowledge: AgentKnowledge) -> int:
    """The newest instant that is known; 0 where nothing is."""
    return clock_change.find_latest_time(knowledge.roster, knowledge.ledgers)


def _shift_clock(knowledge: AgentKnowledge, by: int) -> AgentKnowledge:
    return replace(
        knowledge,
        roster=clock_change.shift_roster(knowledge.roster, by),
        ledgers={runtime: clock_change.shift_source_slots(ledger, by) for runtime, ledger in knowledge.ledgers.items()},
        pending=tuple(clock_change.shift_signal(one, by) for one in knowledge.pending),
    )


def _apply_signal(knowledge: AgentKnowledge, signal: Signal, thresholds: Thresholds) -> AgentKnowledge:
    if (why := find_rejection_reason(signal, thresholds)) is not None:
        return _count_dropped(knowledge, why)
    owner = signal_binding.bind_signal(knowledge.roster, signal, thresholds)
    if isinstance(owner, UnboundSignal):
        if signal.hint.is_doubtful and owner.why == "binding_conflict":
            knowledge = replace(knowledge, roster=signal_binding.add_unattributed_session(knowledge.roster, signal))
        has_room = len(knowledge.pending) < thresholds.max_pending_signals
        waiting = replace(knowledge, pending=(*knowledge.pending, signal))
        return waiting if has_room else _count_dropped(knowledge, owner.why)
    return (
        _count_dropped(knowledge, owner)
        if isinstance(owner, str)
        else _record_signal(knowledge, owner, signal, thresholds)
    )


def _record_signal(
    knowledge: AgentKnowledge, agent_process_id: RuntimeId, signal: Signal, thresholds: Thresholds
) -> AgentKnowledge:
    ledger, why = apply_signal(knowledge.ledgers.get(agent_process_id, EMPTY_SOURCE_SLOTS), signal, thresholds)
    if why is not None:
        return _count_dropped(knowledge, why)
    roster = signal_binding.add_session(knowledge.roster, agent_process_id, signal.session)
    known = replace(knowledge, roster=roster, ledgers={**knowledge.ledgers, agent_process_id: ledger})
    if roster is not knowledge.roster and known.pending:
        known = _retry_pending_signals(known, thresholds)
    if signal.kind != "exited":
        return known
    return _drop_ended_agents(
        known, signal_binding.remove_agent(known.roster, agent_process_id, signal.ingested_at, thresholds)
    )


def _drop_ended_agents(knowledge: AgentKnowledge, roster: AgentRoster) -> AgentKnowledge:
    """Of runtimes that ended nothing is kept but their tombstones."""
    ledgers = {runtime: ledger for runtime, ledger in knowledge.ledgers.items() if runtime in roster.tenants}
    return replace(knowledge, roster=roster, ledgers=ledgers)


def _retry_pending_signals(knowledge: AgentKnowledge, thresholds: Thresholds) -> AgentKnowledge:
    """Somebody new is here, or has shown a session: some who waited may be theirs."""
    waiting, known = knowledge.pending, replace(knowledge, pending=())
    for signal in waiting:
        known = _apply_signal(known, signal, thresholds)
    return known


def _drop_expired_signals(knowledge: AgentKnowledge, now: int, thresholds: Thresholds) -> AgentKnowledge:
    """Without the signals that waited too long for somebody to whom they belong."""
    late = [one for one in knowledge.pending if now - one.ingested_at > thresholds.pending_for]
    if not late:
        return knowledge
    waiting = tuple(one for one in knowledge.pending if now - one.ingested_at <= thresholds.pending_for)
    known = replace(knowledge, pending=waiting)
    for one in late:
        owner = signal_binding.bind_signal(known.roster, one, thresholds)
        known = _count_dropped(known, owner.why if isinstance(owner, UnboundSignal) else "dropped_unbound")
    return known


def _mark_output_missing(knowledge: AgentKnowledge, pane: PaneId, at: int) -> AgentKnowledge:
    ledgers = {
        runtime: replace(ledger, missed_at=at) if knowledge.roster.tenants[runtime].runtime.pane == pane else ledger
        for runtime, ledger in knowledge.ledgers.items()
    }
    return replace(knowledge, ledgers=ledgers)


def _update_reachability(knowledge: AgentKnowledge, fact: TargetReachability) -> AgentKnowledge:
    others = tuple(name for name in knowledge.unreachable if name != fact.target)
    return replace(knowledge, unreachable=others if fact.is_reachable else (*others, fact.target))


def _count_dropped(knowledge: AgentKnowledge, reason: DropReason) -> AgentKnowledge:
    return replace(knowledge, dropped={**knowledge.dropped, reason: knowledge.dropped.get(reason, 0) + 1})
