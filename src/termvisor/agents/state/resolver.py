"""The one to believe: what all sources of an agent together say at one instant.

Fresh words of the agent itself before what we conclude from looks; then by the source's rank; then by precedence. What
nobody vouches for is unknown, with the reason, and never idle.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import flags
from termvisor.agents.state import source_reading as witness_of
from termvisor.agents.state import subtasks as tasks
from termvisor.agents.state.hysteresis import AT_REST, WAITING
from termvisor.agents.state.source_reading import Witness, agree, witnesses
from termvisor.agents.state.source_slots import Ledger
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.state import Contradiction, Flags, StateName, UnknownReason, precedence


class Resolution(Struct, frozen=True, kw_only=True):
    """The state with everything that it was made of."""

    value: StateName
    reason: UnknownReason | None = None
    leader: Witness | None = None
    """The one that is believed."""
    since: int | None = None
    flags: Flags = Flags()
    witnesses: tuple[Witness, ...] = ()
    overtaken: tuple[str, ...] = ()
    """Sources with holes that looks proved wrong."""


def resolve(ledger: Ledger, agent: str, now: int, measure: Measure) -> Resolution:
    """What the agent is doing at this instant."""
    found = witnesses(ledger, agent, now, measure)
    told = [one for one in found if one.source.tier == "deterministic" and one.is_usable]
    looks = [one for one in found if one.source.tier == "heuristic" and one.is_usable]
    overtaken = [
        one
        for one in told
        if any(_is_outlived(one, other) for other in told)
        or any(_is_overtaken(one, look, measure) for look in looks[:1])
    ]
    standing = [one for one in told if one not in overtaken]
    leader = _settled(standing, now, measure) or next(iter(looks), None)
    counted = _subtasks(found, now, measure)
    value, since = _value(leader, counted, now, measure)
    contradicted = None if looks and agree(value, looks[0].state) else _contradiction(leader, looks, measure)
    return Resolution(
        value=value,
        reason=_reason(found) if leader is None else None,
        leader=leader,
        since=since,
        flags=replace(_flags(value, found, now), subtasks=counted, contradicted=contradicted),
        witnesses=tuple(found),
        overtaken=tuple(one.source.name for one in overtaken),
    )


def unreachable(ledger: Ledger, agent: str, now: int, measure: Measure) -> Resolution:
    """What is left to say of an agent whose machine does not answer."""
    found = witnesses(ledger, agent, now, measure)
    lasting = flags.holding("unknown", (flags.lasting(one.slot.flags) for one in found), now)
    return Resolution(value="unknown", reason="target_unreachable", flags=lasting, witnesses=tuple(found))


def next_change_at(ledger: Ledger, agent: str, now: int, measure: Measure) -> int | None:
    """The earliest instant after now at which the answer may change without any news; None if it cannot."""
    found = witness_of.deadlines(ledger, agent, measure)
    found += [
        slot.said.since + measure.completed_for
        for slot in ledger.slots.values()
        if slot.said is not None and slot.said.state == "completed"
    ]
    return min((at for at in found if at > now), default=None)


def _settled(standing: Sequence[Witness], now: int, measure: Measure) -> Witness | None:
    """The one to believe of those in which the agent itself speaks.

    Of the end of a turn, and of the next one's beginning, several tell at about the same time. Until all have, what a
    blind one shows as idle is not believed, but what they said before.
    """
    leader = _refined(standing, measure)
    if leader is None or leader.state != "idle" or not leader.source.blind_to:
        return leader
    earlier = [found for one in standing if (found := one.earlier(now - measure.settled_after)) is not None]
    return _refined(sorted(earlier, key=lambda one: one.order), measure) or leader


def _refined(standing: Sequence[Witness], measure: Measure) -> Witness | None:
    """The best, or one that says what the best has no word for: an error or an end that it shows as idle."""
    if not standing:
        return None
    best = standing[0]
    finer = [
        one
        for one in standing[1:]
        if one.state in best.source.blind_to
        and agree(one.state, best.state)
        and one.since >= best.since - measure.refined_within
    ]
    ends = [one for one in finer if not any(_is_of_an_earlier_turn(one, other) for other in standing)]
    return min(ends, key=lambda one: precedence(one.state), default=best)


def _is_of_an_earlier_turn(end: Witness, other: Witness) -> bool:
    """Whether a better source that misses nothing and has a word for this end says later that there is none."""
    source = other.source
    knows = source.rank < end.source.rank and not source.has_holes and end.state not in source.blind_to
    return knows and other.state == "idle" and other.since > end.since


def _value(leader: Witness | None, subtasks: int, now: int, measure: Measure) -> tuple[StateName, int | None]:
    """What is shown: running sub-tasks are work, and an end that was long ago is idleness."""
    if leader is None:
        return "unknown", None
    if subtasks and leader.state in AT_REST:
        return "running", leader.since
    if leader.state == "completed" and now - leader.since >= measure.completed_for:
        return "idle", leader.since + measure.completed_for
    return leader.state, leader.since


def _subtasks(found: Sequence[Witness], now: int, measure: Measure) -> int:
    """As the best source says that knows of sub-tasks: to add up several would count some twice."""
    knowing = (one for one in found if one.freshness == "fresh" and one.slot.tasks.has_spoken)
    best = next(knowing, None)
    return tasks.running(best.slot.tasks, now, measure) if best is not None else 0


def _is_overtaken(told: Witness, look: Witness, measure: Measure) -> bool:
    """Whether it missed the end of what it told: it has holes, fell silent, and the screen shows otherwise for long."""
    if _is_blurred(told, look) or _is_dialog_missed(told, look):
        return True
    if not told.source.has_holes or told.said is None or told.state in (*AT_REST, "error"):
        return False
    return _disagreed_for(told.said.at, told, look) >= measure.recovered_after


def _is_outlived(told: Witness, other: Witness) -> bool:
    """Whether it missed the end of what it told: it has holes, and an equal has said something else since."""
    is_equal = told.source.has_holes and told.source.rank == other.source.rank
    return is_equal and told.said is not None and other.since > told.said.at and not agree(told.state, other.state)


def _is_blurred(told: Witness, look: Witness) -> bool:
    """Whether it told an end, and the screen shows since what kind of end it was."""
    is_end = told.source.blurs_ends and told.state in AT_REST
    is_seen = look.state != told.state and agree(look.state, told.state)
    return is_end and is_seen and look.since >= told.since


def _is_dialog_missed(told: Witness, look: Witness) -> bool:
    """Whether the screen has shown a dialog since, of which it has no word or not the right one."""
    if look.state not in WAITING or look.said is None:
        return False
    if agree(look.state, told.state):
        return look.state in told.source.blind_to and look.said.at >= told.since
    return told.source.misses_dialogs and _disagreed_for(told.since, told, look) >= 0


def _contradiction(leader: Witness | None, looks: Sequence[Witness], measure: Measure) -> Contradiction | None:
    if leader is None or leader.source.tier == "heuristic" or not looks:
        return None
    look = looks[0]
    if _disagreed_for(leader.since, leader, look) < measure.contradicted_after:
        return None
    return Contradiction(since=max(leader.since, look.since), by=look.source.name, state=look.state)


def _disagreed_for(since: int, told: Witness, look: Witness) -> int:
    """For how long looks have shown something else than was told; -1 if they do not. No look, no disagreement."""
    seen = look.slot.said
    if seen is None or seen != look.said or agree(told.state, look.state):
        return -1
    return seen.at - max(since, seen.since)


def _flags(value: StateName, found: Sequence[Witness], now: int) -> Flags:
    told = (one.slot.flags if one.freshness == "fresh" else flags.lasting(one.slot.flags) for one in found)
    return flags.holding(value, told, now)


def _reason(found: Sequence[Witness]) -> UnknownReason:
    """Why nothing is known: what a fresh source says of it, then what is missing, then what is too old."""
    fresh = [one for one in found if one.freshness == "fresh"]
    said = (one.said.reason for one in fresh if one.said is not None and one.said.reason is not None)
    if (reason := next(said, None)) is not None:
        return reason
    if any(one.freshness == "gap" for one in found):
        return "gap"
    has_word = any(one.slot.said is not None for one in found if one.freshness != "fresh")
    return "stale_signal" if has_word else "no_signal"
