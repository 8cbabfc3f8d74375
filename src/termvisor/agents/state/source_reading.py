"""A Witness is one source at one instant: what it says, and whether that may still be believed."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import flags
from termvisor.agents.state.hysteresis import SourceStatement, select_statement
from termvisor.agents.state.hysteresis import list_statement_deadlines as looks_change
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.evidence_source import EvidenceSource
from termvisor.model.agent.state import StateName, get_precedence

Freshness = Literal["fresh", "stale", "down", "gap"]
_STATE_GROUPS: dict[StateName, str] = {
    "idle": "rest",
    "completed": "rest",
    "error": "rest",
    "waiting_approval": "waiting",
    "waiting_input": "waiting",
    "running": "running",
    "unknown": "unknown",
}
"""An agent at its prompt looks the same after success, after an error and before any work."""


class SourceReading(Struct, frozen=True, kw_only=True):
    source: EvidenceSource
    slot: SourceSlot
    freshness: Freshness
    said: SourceStatement | None
    """What to go by; None before anything was said or seen for long enough."""

    @property
    def is_usable(self) -> bool:
        """Whether it knows something now. Not to know is never held against those who do."""
        return self.freshness == "fresh" and self.said is not None and self.said.state != "unknown"

    @property
    def state(self) -> StateName:
        return self.said.state if self.said is not None else "unknown"

    @property
    def since(self) -> int:
        return self.said.since if self.said is not None else 0

    @property
    def sort_key(self) -> tuple[int, int, int, str]:
        """The smallest is believed: by rank, by precedence, then the newest."""
        return self.source.rank, get_precedence(self.state), -self.since, self.source.name

    def read_at(self, at: int) -> "SourceReading | None":
        """As it spoke at an instant, as far as that is remembered; None where it knew nothing then."""
        if self.since <= at:
            return self
        before = self.slot.before
        return None if before is None or before.state == "unknown" else replace(self, said=before)


def is_compatible_state(one: StateName, other: StateName) -> bool:
    """Whether the same agent at the same moment may be described by both."""
    return _STATE_GROUPS[one] == _STATE_GROUPS[other]


def read_sources(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> list[SourceReading]:
    """Every source that was heard, the best first; those that still vouch for each other are counted as doing so."""
    found = [
        _read_source(source_slots, source, slot, now, thresholds)
        for name, slot in source_slots.slots.items()
        if (source := thresholds.find_source(agent, name)) is not None
    ]
    looks = [one for one in found if one.source.tier == "heuristic" and one.is_usable]
    return sorted((_extend_freshness(one, looks) for one in found), key=lambda one: one.sort_key)


def _read_source(
    source_slots: SourceSlots, source: EvidenceSource, slot: SourceSlot, now: int, thresholds: Thresholds
) -> SourceReading:
    is_look = source.tier == "heuristic"
    said = select_statement(slot.said, slot.look, now, thresholds) if is_look and slot.said is not None else slot.said
    freshness = _rate_freshness(source, slot, now, thresholds)
    if source.reads_stream and slot.heard_at <= source_slots.missed_at:
        freshness = "gap"
    return SourceReading(source=source, slot=slot, freshness=freshness, said=said)


def _rate_freshness(source: EvidenceSource, slot: SourceSlot, now: int, thresholds: Thresholds) -> Freshness:
    silent_for = now - slot.heard_at
    if slot.is_down or (source.beats and silent_for > thresholds.down_after):
        return "down"
    return "fresh" if silent_for <= (thresholds.fresh_for if source.beats else source.trusted_for) else "stale"


def _extend_freshness(reading: SourceReading, screen_readings: Sequence[SourceReading]) -> SourceReading:
    """The word of a source without heartbeat holds on while a look says the same."""
    if (
        reading.freshness != "stale"
        or reading.source.beats
        or reading.source.tier == "heuristic"
        or reading.said is None
    ):
        return reading
    return (
        replace(reading, freshness="fresh")
        if any(is_compatible_state(reading.state, look.state) for look in screen_readings)
        else reading
    )


def list_source_deadlines(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> list[int]:
    """The instants at which time alone may change what a source is worth."""
    found = _list_settling_deadlines(source_slots, agent, thresholds)
    for name, slot in source_slots.slots.items():
        source = thresholds.find_source(agent, name)
        if source is None:
            continue
        limits = (thresholds.fresh_for, thresholds.down_after) if source.beats else (source.trusted_for,)
        found += [slot.heard_at + limit + 1 for limit in limits]
        found += [told.at + thresholds.task_trusted_for + 1 for told in slot.tasks.told.values() if told.is_open]
        found += flags.list_flag_deadlines(slot.flags)
        if source.tier == "heuristic" and slot.said is not None:
            found += looks_change(slot.said, slot.look, thresholds)
    return found


def _list_settling_deadlines(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> list[int]:
    """When what was said beside an `idle` of a blind source has stood long enough."""
    said = {name: slot.said for name, slot in source_slots.slots.items() if slot.said is not None}
    idle = (thresholds.find_source(agent, name) for name, one in said.items() if one.state == "idle")
    is_blurred = any(source is not None and source.blind_to for source in idle)
    return [one.since + thresholds.settled_after for one in said.values()] if is_blurred else []
