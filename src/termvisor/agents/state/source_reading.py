"""A Witness is one source at one instant: what it says, and whether that may still be believed."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import flags
from termvisor.agents.state.hysteresis import Statement, believed
from termvisor.agents.state.hysteresis import deadlines as looks_change
from termvisor.agents.state.source_slots import Ledger, Slot
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.evidence_source import Source
from termvisor.model.agent.state import StateName, precedence

Freshness = Literal["fresh", "stale", "down", "gap"]
_MOODS: dict[StateName, str] = {
    "idle": "rest",
    "completed": "rest",
    "error": "rest",
    "waiting_approval": "waiting",
    "waiting_input": "waiting",
    "running": "running",
    "unknown": "unknown",
}
"""An agent at its prompt looks the same after success, after an error and before any work."""


class Witness(Struct, frozen=True, kw_only=True):
    source: Source
    slot: Slot
    freshness: Freshness
    said: Statement | None
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
    def order(self) -> tuple[int, int, int, str]:
        """The smallest is believed: by rank, by precedence, then the newest."""
        return self.source.rank, precedence(self.state), -self.since, self.source.name

    def earlier(self, at: int) -> "Witness | None":
        """As it spoke at an instant, as far as that is remembered; None where it knew nothing then."""
        if self.since <= at:
            return self
        before = self.slot.before
        return None if before is None or before.state == "unknown" else replace(self, said=before)


def agree(one: StateName, other: StateName) -> bool:
    """Whether the same agent at the same moment may be described by both."""
    return _MOODS[one] == _MOODS[other]


def witnesses(ledger: Ledger, agent: str, now: int, measure: Measure) -> list[Witness]:
    """Every source that was heard, the best first; those that still vouch for each other are counted as doing so."""
    found = [
        _witness(ledger, source, slot, now, measure)
        for name, slot in ledger.slots.items()
        if (source := measure.source(agent, name)) is not None
    ]
    looks = [one for one in found if one.source.tier == "heuristic" and one.is_usable]
    return sorted((_vouched(one, looks) for one in found), key=lambda one: one.order)


def _witness(ledger: Ledger, source: Source, slot: Slot, now: int, measure: Measure) -> Witness:
    is_look = source.tier == "heuristic"
    said = believed(slot.said, slot.look, now, measure) if is_look and slot.said is not None else slot.said
    freshness = _freshness(source, slot, now, measure)
    if source.reads_stream and slot.heard_at <= ledger.missed_at:
        freshness = "gap"
    return Witness(source=source, slot=slot, freshness=freshness, said=said)


def _freshness(source: Source, slot: Slot, now: int, measure: Measure) -> Freshness:
    silent_for = now - slot.heard_at
    if slot.is_down or (source.beats and silent_for > measure.down_after):
        return "down"
    return "fresh" if silent_for <= (measure.fresh_for if source.beats else source.trusted_for) else "stale"


def _vouched(one: Witness, looks: Sequence[Witness]) -> Witness:
    """The word of a source without heartbeat holds on while a look says the same."""
    if one.freshness != "stale" or one.source.beats or one.source.tier == "heuristic" or one.said is None:
        return one
    return replace(one, freshness="fresh") if any(agree(one.state, look.state) for look in looks) else one


def deadlines(ledger: Ledger, agent: str, measure: Measure) -> list[int]:
    """The instants at which time alone may change what a source is worth."""
    found = _settling(ledger, agent, measure)
    for name, slot in ledger.slots.items():
        source = measure.source(agent, name)
        if source is None:
            continue
        limits = (measure.fresh_for, measure.down_after) if source.beats else (source.trusted_for,)
        found += [slot.heard_at + limit + 1 for limit in limits]
        found += [told.at + measure.task_trusted_for + 1 for told in slot.tasks.told.values() if told.is_open]
        found += flags.deadlines(slot.flags)
        if source.tier == "heuristic" and slot.said is not None:
            found += looks_change(slot.said, slot.look, measure)
    return found


def _settling(ledger: Ledger, agent: str, measure: Measure) -> list[int]:
    """When what was said beside an `idle` of a blind source has stood long enough."""
    said = {name: slot.said for name, slot in ledger.slots.items() if slot.said is not None}
    idle = (measure.source(agent, name) for name, one in said.items() if one.state == "idle")
    is_blurred = any(source is not None and source.blind_to for source in idle)
    return [one.since + measure.settled_after for one in said.values()] if is_blurred else []
