"""The one to believe: what all sources of an agent together say at one instant.

Fresh words of the agent itself before what we conclude from looks; then by the source's rank; then by precedence. What
nobody vouches for is unknown, with the reason, and never idle.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import flags, source_reading
from termvisor.agents.state import subtasks as tasks
from termvisor.agents.state.hysteresis import REST_STATES, WAITING_STATES
from termvisor.agents.state.source_reading import SourceReading, is_compatible_state, read_sources
from termvisor.agents.state.source_slots import SourceSlots
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.state import AgentFlags, StateContradiction, StateName, UnknownReason, get_precedence


class StateResolution(Struct, frozen=True, kw_only=True):
    """The state with everything that it was made of."""

    value: StateName
    reason: UnknownReason | None = None
    leader: SourceReading | None = None
    """The one that is believed."""
    since: int | None = None
    flags: AgentFlags = AgentFlags()
    readings: tuple[SourceReading, ...] = ()
    overtaken_sources: tuple[str, ...] = ()
    """Sources with holes that looks proved wrong."""


def resolve_state(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> StateResolution:
    """What the agent is doing at this instant."""
    found = read_sources(source_slots, agent, now, thresholds)
    told = [one for one in found if one.source.tier == "deterministic" and one.is_usable]
    looks = [one for one in found if one.source.tier == "heuristic" and one.is_usable]
    overtaken = [
        one
        for one in told
        if any(_is_superseded(one, other) for other in told)
        or any(_is_overtaken(one, look, thresholds) for look in looks[:1])
    ]
    standing = [one for one in told if one not in overtaken]
    leader = _select_settled_leader(standing, now, thresholds) or next(iter(looks), None)
    counted = _count_subtasks(found, now, thresholds)
    value, since = _derive_value(leader, counted, now, thresholds)
    contradicted = (
        None if looks and is_compatible_state(value, looks[0].state) else _find_contradiction(leader, looks, thresholds)
    )
    return StateResolution(
        value=value,
        reason=_explain_unknown(found) if leader is None else None,
        leader=leader,
        since=since,
        flags=replace(_resolve_flags(value, found, now), subtasks=counted, contradicted=contradicted),
        readings=tuple(found),
        overtaken_sources=tuple(one.source.name for one in overtaken),
    )


def resolve_unreachable(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> StateResolution:
    """What is left to say of an agent whose machine does not answer."""
    found = read_sources(source_slots, agent, now, thresholds)
    lasting = flags.resolve_flags("unknown", (flags.keep_lasting_flags(one.slot.flags) for one in found), now)
    return StateResolution(value="unknown", reason="target_unreachable", flags=lasting, readings=tuple(found))


def find_next_change(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> int | None:
    """The earliest instant after now at which the answer may change without any news; None if it cannot."""
    found = source_reading.list_source_deadlines(source_slots, agent, thresholds)
    found += [
        slot.said.since + thresholds.completed_for
        for slot in source_slots.slots.values()
        if slot.said is not None and slot.said.state == "completed"
    ]
    return min((at for at in found if at > now), default=None)


def _select_settled_leader(
    candidates: Sequence[SourceReading], now: int, thresholds: Thresholds
) -> SourceReading | None:
    """The one to believe of those in which the agent itself speaks.

    Of the end of a turn, and of the next one's beginning, several tell at about the same time. Until all have, what a
    blind one shows as idle is not believed, but what they said before.
    """
    leader = _select_most_specific(candidates, thresholds)
    if leader is None or leader.state != "idle" or not leader.source.blind_to:
        return leader
    earlier = [found for one in candidates if (found := one.read_at(now - thresholds.settled_after)) is not None]
    return _select_most_specific(sorted(earlier, key=lambda one: one.sort_key), thresholds) or leader


def _select_most_specific(candidates: Sequence[SourceReading], thresholds: Thresholds) -> SourceReading | None:
    """The best, or one that says what the best has no word for: an error or an end that it shows as idle."""
    if not candidates:
        return None
    best = candidates[0]
    finer = [
        one
        for one in candidates[1:]
        if one.state in best.source.blind_to
        and is_compatible_state(one.state, best.state)
        and one.since >= best.since - thresholds.refined_within
    ]
    ends = [one for one in finer if not any(_is_from_earlier_turn(one, other) for other in candidates)]
    return min(ends, key=lambda one: get_precedence(one.state), default=best)


def _is_from_earlier_turn(end: SourceReading, other: SourceReading) -> bool:
    """Whether a better source that misses nothing and has a word for this end says later that there is none."""
    source = other.source
    knows = source.rank < end.source.rank and not source.has_holes and end.state not in source.blind_to
    return knows and other.state == "idle" and other.since > end.since


def _derive_value(
    leader: SourceReading | None, subtasks: int, now: int, thresholds: Thresholds
) -> tuple[StateName, int | None]:
    """What is shown: running sub-tasks are work, and an end that was long ago is idleness."""
    if leader is None:
        return "unknown", None
    if subtasks and leader.state in REST_STATES:
        return "running", leader.since
    if leader.state == "completed" and now - leader.since >= thresholds.completed_for:
        return "idle", leader.since + thresholds.completed_for
    return leader.state, leader.since


def _count_subtasks(readings: Sequence[SourceReading], now: int, thresholds: Thresholds) -> int:
    """As the best source says that knows of sub-tasks: to add up several would count some twice."""
    knowing = (one for one in readings if one.freshness == "fresh" and one.slot.tasks.has_spoken)
    best = next(knowing, None)
    return tasks.count_running(best.slot.tasks, now, thresholds) if best is not None else 0


def _is_overtaken(native_reading: SourceReading, screen_reading: SourceReading, thresholds: Thresholds) -> bool:
    """Whether it missed the end of what it told: it has holes, fell silent, and the screen shows otherwise for long."""
    if _is_end_refined_by_screen(native_reading, screen_reading) or _is_dialog_missed(native_reading, screen_reading):
        return True
    if (
        not native_reading.source.has_holes
        or native_reading.said is None
        or native_reading.state in (*REST_STATES, "error")
    ):
        return False
    return _measure_disagreement(native_reading.said.at, native_reading, screen_reading) >= thresholds.recovered_after


def _is_superseded(native_reading: SourceReading, other: SourceReading) -> bool:
    """Whether it missed the end of what it told: it has holes, and an equal has said something else since."""
    is_equal = native_reading.source.has_holes and native_reading.source.rank == other.source.rank
    return (
        is_equal
        and native_reading.said is not None
        and other.since > native_reading.said.at
        and not is_compatible_state(native_reading.state, other.state)
    )


def _is_end_refined_by_screen(native_reading: SourceReading, screen_reading: SourceReading) -> bool:
    """Whether it told an end, and the screen shows since what kind of end it was."""
    is_end = native_reading.source.blurs_ends and native_reading.state in REST_STATES
    is_seen = screen_reading.state != native_reading.state and is_compatible_state(
        screen_reading.state, native_reading.state
    )
    return is_end and is_seen and screen_reading.since >= native_reading.since


def _is_dialog_missed(native_reading: SourceReading, screen_reading: SourceReading) -> bool:
    """Whether the screen has shown a dialog since, of which it has no word or not the right one."""
    if screen_reading.state not in WAITING_STATES or screen_reading.said is None:
        return False
    if is_compatible_state(screen_reading.state, native_reading.state):
        return screen_reading.state in native_reading.source.blind_to and screen_reading.said.at >= native_reading.since
    return (
        native_reading.source.misses_dialogs
        and _measure_disagreement(native_reading.since, native_reading, screen_reading) >= 0
    )


def _find_contradiction(
    leader: SourceReading | None, screen_readings: Sequence[SourceReading], thresholds: Thresholds
) -> StateContradiction | None:
    if leader is None or leader.source.tier == "heuristic" or not screen_readings:
        return None
    look = screen_readings[0]
    if _measure_disagreement(leader.since, leader, look) < thresholds.contradicted_after:
        return None
    return StateContradiction(since=max(leader.since, look.since), by=look.source.name, state=look.state)


def _measure_disagreement(since: int, native_reading: SourceReading, screen_reading: SourceReading) -> int:
    """For how long looks have shown something else than was told; -1 if they do not. No look, no disagreement."""
    seen = screen_reading.slot.said
    if seen is None or seen != screen_reading.said or is_compatible_state(native_reading.state, screen_reading.state):
        return -1
    return seen.at - max(since, seen.since)


def _resolve_flags(value: StateName, readings: Sequence[SourceReading], now: int) -> AgentFlags:
    told = (
        one.slot.flags if one.freshness == "fresh" else flags.keep_lasting_flags(one.slot.flags) for one in readings
    )
    return flags.resolve_flags(value, told, now)


def _explain_unknown(readings: Sequence[SourceReading]) -> UnknownReason:
    """Why nothing is known: what a fresh source says of it, then what is missing, then what is too old."""
    fresh = [one for one in readings if one.freshness == "fresh"]
    said = (one.said.reason for one in fresh if one.said is not None and one.said.reason is not None)
    if (reason := next(said, None)) is not None:
        return reason
    if any(one.freshness == "gap" for one in readings):
        return "gap"
    has_word = any(one.slot.said is not None for one in readings if one.freshness != "fresh")
    return "stale_signal" if has_word else "no_signal"
