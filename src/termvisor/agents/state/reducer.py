"""Knowledge is all that is known of all agents: a fold over stored facts.

Invariant: it depends on the facts and their order alone. So what is live equals what is read again from the store, and
a stored copy of it may be continued with the facts that came later.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import clock_change as shifting
from termvisor.agents.state import signal_binding as binding
from termvisor.agents.state.signal_binding import Roster, Unbound
from termvisor.agents.state.signal_filter import refused
from termvisor.agents.state.source_slots import Ledger, hear
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import (
    ClockSet,
    Fact,
    PaneClosed,
    PaneMissed,
    RuntimeBegan,
    RuntimeEnded,
    TargetReached,
)
from termvisor.model.agent.signal import Dropped, Signal
from termvisor.model.ids import PaneId, RuntimeId, TargetName


class Knowledge(Struct, frozen=True, kw_only=True):
    roster: Roster = Roster()
    ledgers: dict[RuntimeId, Ledger] = {}
    pending: tuple[Signal, ...] = ()
    """Signals whose runtime is not known yet."""
    unreachable: tuple[TargetName, ...] = ()
    dropped: dict[Dropped, int] = {}
    """How many signals changed nothing, and why."""


NOTHING = Ledger()


def told(knowledge: Knowledge, facts: Iterable[Fact], measure: Measure) -> Knowledge:
    for fact in facts:
        knowledge = tell(knowledge, fact, measure)
    return knowledge


def tell(knowledge: Knowledge, fact: Fact, measure: Measure) -> Knowledge:
    """What is known after one more fact."""
    if isinstance(fact, Signal):
        return _heard(_expired(knowledge, fact.ingested_at, measure), fact, measure)
    if isinstance(fact, ClockSet):
        return _by_the_new_clock(knowledge, fact.by)
    knowledge = _expired(knowledge, fact.at, measure)
    match fact:
        case RuntimeBegan():
            begun = binding.began(knowledge.roster, fact.runtime, fact.at, measure)
            return _tried_again(_living(knowledge, begun), measure)
        case RuntimeEnded():
            return _living(knowledge, binding.ended(knowledge.roster, fact.runtime, fact.at, measure))
        case PaneClosed():
            return _living(knowledge, binding.closed(knowledge.roster, fact.pane, fact.at, measure))
        case PaneMissed():
            return _missed(knowledge, fact.pane, fact.at)
        case TargetReached():
            return _reached(knowledge, fact)


def latest(knowledge: Knowledge) -> int:
    """The newest instant that is known; 0 where nothing is."""
    return shifting.latest(knowledge.roster, knowledge.ledgers)


def _by_the_new_clock(knowledge: Knowledge, by: int) -> Knowledge:
    return replace(
        knowledge,
        roster=shifting.roster(knowledge.roster, by),
        ledgers={runtime: shifting.ledger(ledger, by) for runtime, ledger in knowledge.ledgers.items()},
        pending=tuple(shifting.signal(one, by) for one in knowledge.pending),
    )


def _heard(knowledge: Knowledge, signal: Signal, measure: Measure) -> Knowledge:
    if (why := refused(signal, measure)) is not None:
        return _dropped(knowledge, why)
    owner = binding.bind(knowledge.roster, signal, measure)
    if isinstance(owner, Unbound):
        if signal.hint.is_doubtful and owner.why == "binding_conflict":
            knowledge = replace(knowledge, roster=binding.doubted(knowledge.roster, signal))
        has_room = len(knowledge.pending) < measure.pending_at_most
        waiting = replace(knowledge, pending=(*knowledge.pending, signal))
        return waiting if has_room else _dropped(knowledge, owner.why)
    return _dropped(knowledge, owner) if isinstance(owner, str) else _noted(knowledge, owner, signal, measure)


def _noted(knowledge: Knowledge, runtime: RuntimeId, signal: Signal, measure: Measure) -> Knowledge:
    ledger, why = hear(knowledge.ledgers.get(runtime, NOTHING), signal, measure)
    if why is not None:
        return _dropped(knowledge, why)
    roster = binding.showed(knowledge.roster, runtime, signal.session)
    known = replace(knowledge, roster=roster, ledgers={**knowledge.ledgers, runtime: ledger})
    if roster is not knowledge.roster and known.pending:
        known = _tried_again(known, measure)
    if signal.kind != "exited":
        return known
    return _living(known, binding.ended(known.roster, runtime, signal.ingested_at, measure))


def _living(knowledge: Knowledge, roster: Roster) -> Knowledge:
    """Of runtimes that ended nothing is kept but their tombstones."""
    ledgers = {runtime: ledger for runtime, ledger in knowledge.ledgers.items() if runtime in roster.tenants}
    return replace(knowledge, roster=roster, ledgers=ledgers)


def _tried_again(knowledge: Knowledge, measure: Measure) -> Knowledge:
    """Somebody new is here, or has shown a session: some who waited may be theirs."""
    waiting, known = knowledge.pending, replace(knowledge, pending=())
    for signal in waiting:
        known = _heard(known, signal, measure)
    return known


def _expired(knowledge: Knowledge, now: int, measure: Measure) -> Knowledge:
    """Without the signals that waited too long for somebody to whom they belong."""
    late = [one for one in knowledge.pending if now - one.ingested_at > measure.pending_for]
    if not late:
        return knowledge
    waiting = tuple(one for one in knowledge.pending if now - one.ingested_at <= measure.pending_for)
    known = replace(knowledge, pending=waiting)
    for one in late:
        owner = binding.bind(known.roster, one, measure)
        known = _dropped(known, owner.why if isinstance(owner, Unbound) else "dropped_unbound")
    return known


def _missed(knowledge: Knowledge, pane: PaneId, at: int) -> Knowledge:
    ledgers = {
        runtime: replace(ledger, missed_at=at) if knowledge.roster.tenants[runtime].runtime.pane == pane else ledger
        for runtime, ledger in knowledge.ledgers.items()
    }
    return replace(knowledge, ledgers=ledgers)


def _reached(knowledge: Knowledge, fact: TargetReached) -> Knowledge:
    others = tuple(name for name in knowledge.unreachable if name != fact.target)
    return replace(knowledge, unreachable=others if fact.is_reachable else (*others, fact.target))


def _dropped(knowledge: Knowledge, why: Dropped) -> Knowledge:
    return replace(knowledge, dropped={**knowledge.dropped, why: knowledge.dropped.get(why, 0) + 1})
