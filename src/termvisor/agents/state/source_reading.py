"""Read one source at one instant: its statement, and whether that can still be believed (`SourceReading`)."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.flags_and_subtasks import list_flag_deadlines
from termvisor.agents.state.hysteresis import SourceStatement, is_settled, list_statement_deadlines
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.evidence import EvidenceSource
from termvisor.model.agent.state import StateName, get_precedence

Freshness = Literal["fresh", "stale", "down", "gap"]
# On the screen, an agent at its prompt looks the same after success, after an error and before any work.
_STATE_GROUPS: dict[StateName, str] = {
    "idle": "rest",
    "completed": "rest",
    "error": "rest",
    "waiting_approval": "waiting",
    "waiting_input": "waiting",
    "running": "running",
    "unknown": "unknown",
}


class SourceReading(Struct, frozen=True, kw_only=True):
    source: EvidenceSource
    slot: SourceSlot
    freshness: Freshness
    statement: SourceStatement | None
    """The statement to believe; None before one was reported, or shown for long enough."""

    @property
    def is_usable(self) -> bool:
        """Return True if the source knows the state; an unknown state never overrides another source."""
        return self.freshness == "fresh" and self.statement is not None and self.statement.state != "unknown"

    @property
    def state(self) -> StateName:
        return self.statement.state if self.statement is not None else "unknown"

    @property
    def since(self) -> int:
        return self.statement.since if self.statement is not None else 0

    @property
    def sort_key(self) -> tuple[int, int, int, str]:
        """The smallest is believed: by rank, then precedence, then the newest."""
        return self.source.rank, get_precedence(self.state), -self.since, self.source.name

    def read_at(self, at: int) -> "SourceReading | None":
        """Return the reading as of an earlier instant, as far as it is remembered; None if it knew nothing then."""
        if self.since <= at:
            return self
        previous = self.slot.previous_statement
        return None if previous is None or previous.state == "unknown" else replace(self, statement=previous)


def is_compatible_state(one: StateName, other: StateName) -> bool:
    """Return True if both states can describe the same agent at the same moment."""
    return _STATE_GROUPS[one] == _STATE_GROUPS[other]


def read_sources(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> list[SourceReading]:
    """Return a reading of every source, best first; a stale native source that the screen confirms counts as fresh."""
    readings = [
        _read_source(source_slots, source, slot, now, thresholds)
        for name, slot in source_slots.slots.items()
        if (source := thresholds.find_source(agent, name)) is not None
    ]
    screens = [one for one in readings if one.source.tier == "heuristic" and one.is_usable]
    return sorted((_extend_freshness(one, screens) for one in readings), key=lambda one: one.sort_key)


def _read_source(
    source_slots: SourceSlots, source: EvidenceSource, slot: SourceSlot, now: int, thresholds: Thresholds
) -> SourceReading:
    statement = slot.statement
    # Until a new statement of the screen is believed, the one before it counts.
    if source.tier == "heuristic" and statement is not None:
        history = slot.screen_history
        statement = statement if is_settled(statement, history, now, thresholds) else history.before
    freshness = _rate_freshness(source, slot, now, thresholds)
    # Output that was lost may have contained the mark that ends the state.
    if source.reads_stream and slot.heard_at <= source_slots.output_missed_at:
        freshness = "gap"
    return SourceReading(source=source, slot=slot, freshness=freshness, statement=statement)


def _rate_freshness(source: EvidenceSource, slot: SourceSlot, now: int, thresholds: Thresholds) -> Freshness:
    silent_for = now - slot.heard_at
    if slot.is_down or (source.beats and silent_for > thresholds.down_after):
        return "down"
    return "fresh" if silent_for <= (thresholds.fresh_for if source.beats else source.trusted_for) else "stale"


def _extend_freshness(reading: SourceReading, screen_readings: Sequence[SourceReading]) -> SourceReading:
    """Treat a stale source without heartbeat as fresh while the screen shows a compatible state."""
    # A heartbeat that stopped is proof of silence, whatever the screen shows.
    can_last = reading.freshness == "stale" and reading.source.tier == "deterministic" and not reading.source.beats
    if not can_last or reading.statement is None:
        return reading
    is_confirmed = any(is_compatible_state(reading.state, screen.state) for screen in screen_readings)
    return replace(reading, freshness="fresh") if is_confirmed else reading


def list_source_deadlines(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> list[int]:
    """List the instants at which time alone may change the rating of a source."""
    deadlines = _list_settling_deadlines(source_slots, agent, thresholds)
    for name, slot in source_slots.slots.items():
        source = thresholds.find_source(agent, name)
        if source is None:
            continue
        limits = (thresholds.fresh_for, thresholds.down_after) if source.beats else (source.trusted_for,)
        # One nanosecond later: evidence of exactly that age is still believed.
        deadlines += [slot.heard_at + limit + 1 for limit in limits]
        reports = slot.subtasks.reports.values()
        deadlines += [report.at + thresholds.task_trusted_for + 1 for report in reports if report.is_open]
        deadlines += list_flag_deadlines(slot.flags)
        if source.tier == "heuristic" and slot.statement is not None:
            deadlines += list_statement_deadlines(slot.statement, slot.screen_history, thresholds)
    return deadlines


def _list_settling_deadlines(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> list[int]:
    """List when the statements beside an ambiguous `idle` of a source are settled (see the resolver)."""
    statements = {name: slot.statement for name, slot in source_slots.slots.items() if slot.statement is not None}
    idle = (thresholds.find_source(agent, name) for name, one in statements.items() if one.state == "idle")
    is_ambiguous = any(source is not None and source.blind_to for source in idle)
    return [one.since + thresholds.settled_after for one in statements.values()] if is_ambiguous else []
