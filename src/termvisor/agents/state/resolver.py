"""Resolve the state of one agent at one instant from all its sources.

Fresh native sources come before heuristics (the screen), then the source's rank decides, then the precedence of states.
Without usable evidence the state is unknown, with a reason, and never idle.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.flags_and_subtasks import count_running, keep_lasting_flags, resolve_flags
from termvisor.agents.state.hysteresis import REST_STATES, WAITING_STATES
from termvisor.agents.state.source_slots import (
    SourceReading,
    SourceSlots,
    is_compatible_state,
    list_source_deadlines,
    read_sources,
)
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.state import AgentFlags, StateContradiction, StateName, UnknownReason, get_precedence


class StateResolution(Struct, frozen=True, kw_only=True):
    """The state, with the evidence that it was derived from."""

    value: StateName
    reason: UnknownReason | None = None
    leader: SourceReading | None = None
    """The reading that decides."""
    since: int | None = None
    flags: AgentFlags = AgentFlags()
    readings: tuple[SourceReading, ...] = ()
    overtaken_sources: tuple[str, ...] = ()
    """Sources that missed an event, according to the screen or an equal source."""


def resolve_state(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> StateResolution:
    """Return the state of the agent at this instant."""
    readings = read_sources(source_slots, agent, now, thresholds)
    native = [reading for reading in readings if reading.source.tier == "deterministic" and reading.is_usable]
    screens = [reading for reading in readings if reading.source.tier == "heuristic" and reading.is_usable]
    screen = screens[0] if screens else None
    overtaken = [
        reading
        for reading in native
        if any(_is_superseded(reading, other) for other in native)
        or (screen is not None and _is_overtaken(reading, screen, thresholds))
    ]
    # A usable native source wins whatever the screen shows, because screens change with every release of an agent.
    candidates = [reading for reading in native if reading not in overtaken]
    leader = _select_settled_leader(candidates, now, thresholds) or screen
    running_subtasks = _count_subtasks(readings, now, thresholds)
    value, since = _derive_value(leader, running_subtasks, now, thresholds)
    contradicted = None
    if screen is not None and not is_compatible_state(value, screen.state):
        contradicted = _find_contradiction(leader, screen, thresholds)
    flag_reports = (
        one.slot.flags if one.freshness == "fresh" else keep_lasting_flags(one.slot.flags) for one in readings
    )
    flags = resolve_flags(value, flag_reports, now)
    return StateResolution(
        value=value,
        reason=_explain_unknown(readings) if leader is None else None,
        leader=leader,
        since=since,
        flags=replace(flags, subtasks=running_subtasks, contradicted=contradicted),
        readings=tuple(readings),
        overtaken_sources=tuple(reading.source.name for reading in overtaken),
    )


def resolve_unreachable(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> StateResolution:
    """Return the state of an agent whose target cannot be reached: unknown, with its lasting flags."""
    readings = read_sources(source_slots, agent, now, thresholds)
    lasting = resolve_flags("unknown", (keep_lasting_flags(one.slot.flags) for one in readings), now)
    return StateResolution(value="unknown", reason="target_unreachable", flags=lasting, readings=tuple(readings))


def find_next_change(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> int | None:
    """Return the earliest later instant at which the state may change without a new fact; None if it cannot."""
    deadlines = list_source_deadlines(source_slots, agent, thresholds)
    deadlines += [
        slot.statement.since + thresholds.completed_for
        for slot in source_slots.slots.values()
        if slot.statement is not None and slot.statement.state == "completed"
    ]
    return min((at for at in deadlines if at > now), default=None)


def _select_settled_leader(
    candidates: Sequence[SourceReading], now: int, thresholds: Thresholds
) -> SourceReading | None:
    """Select the native reading to believe.

    Several sources report the end of a turn, and the start of the next, at about the same time. Until ``settled_after``
    has passed, an `idle` from a source that cannot report errors or ends is ignored and its previous state is used.
    """
    leader = _select_most_specific(candidates, thresholds)
    if leader is None or leader.state != "idle" or not leader.source.blind_to:
        return leader
    earlier = [reading for one in candidates if (reading := one.read_at(now - thresholds.settled_after)) is not None]
    return _select_most_specific(sorted(earlier, key=lambda one: one.sort_key), thresholds) or leader


def _select_most_specific(candidates: Sequence[SourceReading], thresholds: Thresholds) -> SourceReading | None:
    """Return the best reading, or one with an error or end that the best source can only report as idle."""
    if not candidates:
        return None
    best = candidates[0]
    more_specific = [
        one
        for one in candidates[1:]
        if one.state in best.source.blind_to
        and is_compatible_state(one.state, best.state)
        and one.since >= best.since - thresholds.refined_within
    ]
    ends = [one for one in more_specific if not any(_is_from_earlier_turn(one, other) for other in candidates)]
    return min(ends, key=lambda one: get_precedence(one.state), default=best)


def _is_from_earlier_turn(end: SourceReading, other: SourceReading) -> bool:
    """Return True if a better, complete source that could report this end later reports `idle`: a new turn began."""
    source = other.source
    is_better = source.rank < end.source.rank and not source.has_holes and end.state not in source.blind_to
    return is_better and other.state == "idle" and other.since > end.since


def _derive_value(
    leader: SourceReading | None, running_subtasks: int, now: int, thresholds: Thresholds
) -> tuple[StateName, int | None]:
    """Return the state and its start. Running sub-tasks count as running, and an old `completed` becomes `idle`."""
    if leader is None:
        return "unknown", None
    # An agent that waits for its sub-agents or background shells starts a new turn on its own.
    if running_subtasks and leader.state in REST_STATES:
        return "running", leader.since
    if leader.state == "completed" and now - leader.since >= thresholds.completed_for:
        return "idle", leader.since + thresholds.completed_for
    return leader.state, leader.since


def _count_subtasks(readings: Sequence[SourceReading], now: int, thresholds: Thresholds) -> int:
    """Return the count of the best source that reports sub-tasks. A sum over sources would count some twice."""
    best = next((one for one in readings if one.freshness == "fresh" and one.slot.subtasks.has_spoken), None)
    return count_running(best.slot.subtasks, now, thresholds) if best is not None else 0


def _is_overtaken(native: SourceReading, screen: SourceReading, thresholds: Thresholds) -> bool:
    """Return True if an incomplete source missed an end.

    That is so if the screen showed the reported state and left it afterwards, or has disagreed for long.
    """
    if _is_end_refined_by_screen(native, screen, thresholds) or _is_dialog_missed(native, screen):
        return True
    # An interrupt or a denied dialog fires no hook, so work reported by such a source may have ended unnoticed. An
    # end that it reported is never revoked.
    if not native.source.has_holes or native.statement is None or native.state in (*REST_STATES, "error"):
        return False
    if _has_left_state(native, screen):
        return True
    is_unended = native.source.blurs_ends and native.has_begun_compaction
    limit = thresholds.idle_after if is_unended else thresholds.recovered_after
    # A turn that began after an error is shown below it, so the screen would no longer end with the error.
    limit = thresholds.ended_after if screen.state == "error" else limit
    return _measure_disagreement(native.statement.at, native, screen) >= limit


def _has_left_state(native: SourceReading, screen: SourceReading) -> bool:
    """Return True if the screen agreed with the source and has shown another state since the source's last report.

    A screen that never showed the reported state proves nothing: the rules may not know how this version shows it. But
    a dialog that the source missed is over once the screen no longer shows it.
    """
    before, statement = screen.slot.screen_history.before, native.statement
    if before is None or statement is None or is_compatible_state(screen.state, native.state):
        return False
    is_missed = native.source.misses_dialogs and before.state in WAITING_STATES and before.since > statement.at
    return (is_missed or is_compatible_state(before.state, native.state)) and screen.since > statement.at


def _is_superseded(native: SourceReading, other: SourceReading) -> bool:
    """Return True if an incomplete source missed an end: a source of the same rank has since reported another state."""
    return (
        native.source.has_holes
        and native.source.rank == other.source.rank
        and native.statement is not None
        and other.since > native.statement.at
        and not is_compatible_state(native.state, other.state)
    )


def _is_end_refined_by_screen(native: SourceReading, screen: SourceReading, thresholds: Thresholds) -> bool:
    """Return True if the source reports all ends alike and the screen has since shown which kind of end it was.

    Two short turns may end in the same way before a screen shows the work between them: then the end that is shown is
    as old as the first, and one that is still shown a moment after the last report counts.
    """
    is_end = native.source.blurs_ends and native.state in REST_STATES
    is_other_end = screen.state != native.state and is_compatible_state(screen.state, native.state)
    if not is_end or not is_other_end or screen.statement is None:
        return False
    return screen.since >= native.since or screen.statement.at >= native.since + thresholds.settled_after


def _is_dialog_missed(native: SourceReading, screen: SourceReading) -> bool:
    """Return True if the screen has since shown a dialog that the source does not report or reports as another kind."""
    if screen.state not in WAITING_STATES or screen.statement is None:
        return False
    if is_compatible_state(screen.state, native.state):
        return screen.state in native.source.blind_to and screen.statement.at >= native.since
    return native.source.misses_dialogs and _measure_disagreement(native.since, native, screen) >= 0


def _find_contradiction(
    leader: SourceReading | None, screen: SourceReading, thresholds: Thresholds
) -> StateContradiction | None:
    if leader is None or leader.source.tier == "heuristic":
        return None
    if _measure_disagreement(leader.since, leader, screen) < thresholds.contradicted_after:
        return None
    return StateContradiction(since=max(leader.since, screen.since), by=screen.source.name, state=screen.state)


def _measure_disagreement(since: int, native: SourceReading, screen: SourceReading) -> int:
    """Return how long (ns) the screen has disagreed with the source, up to its last sample; -1 if it does not."""
    shown = screen.slot.statement
    if shown is None or shown != screen.statement or is_compatible_state(native.state, screen.state):
        return -1
    return shown.at - max(since, shown.since)


def _explain_unknown(readings: Sequence[SourceReading]) -> UnknownReason:
    """Return why the state is unknown: the reason of a fresh source, else a gap, else stale or missing signals."""
    fresh = [one for one in readings if one.freshness == "fresh"]
    reasons = (one.statement.reason for one in fresh if one.statement is not None and one.statement.reason is not None)
    if (reason := next(reasons, None)) is not None:
        return reason
    if any(one.freshness == "gap" for one in readings):
        return "gap"
    is_stale = any(one.slot.statement is not None for one in readings if one.freshness != "fresh")
    return "stale_signal" if is_stale else "no_signal"
