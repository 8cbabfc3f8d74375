"""A Measure is what evidence is measured by: which sources there are, and for how long what is believed.

All durations are nanoseconds.
"""

from msgspec import Struct, field

from termvisor.model.agent.evidence_source import DEFAULT_SOURCES, EvidenceSource

SECOND_NS = 10**9


class Thresholds(Struct, frozen=True, kw_only=True):
    sources: dict[str, tuple[EvidenceSource, ...]] = field(default_factory=lambda: {"": DEFAULT_SOURCES})
    """By agent, as its adapter declares them; under the empty name those of all others."""
    fresh_for: int = 3 * SECOND_NS
    """How long a source that promises signs of life may be silent."""
    down_after: int = 15 * SECOND_NS
    contradicted_after: int = 5 * SECOND_NS
    recovered_after: int = 15 * SECOND_NS
    """A source with holes that was silent and contradicted for so long is believed no more."""
    refined_within: int = 2 * SECOND_NS
    """How much earlier than a blind source another one may have said what the first cannot say."""
    settled_after: int = SECOND_NS // 4
    """How long an `idle` of a blind source must stand: what it cannot say is told elsewhere at about the same time."""
    completed_for: int = 120 * SECOND_NS
    tombstone_for: int = 120 * SECOND_NS
    pending_for: int = 10 * SECOND_NS
    max_pending_signals: int = 1000
    idle_after: int = 4 * SECOND_NS
    looks_until_idle: int = 2
    moved_within: int = 8 * SECOND_NS
    """A running hint counts in a pane that moved so recently."""
    demoted_after: int = 45 * SECOND_NS
    max_misses: int = 2
    """So many looks in a row without an agent, and there is none."""
    remembered_for: int = 720 * SECOND_NS
    """How long a signal is known again: the longest rewind of a source, and two minutes."""
    max_seen_signals: int = 1024
    """Of one source, at most so many; what is older is stopped by its cursor."""
    task_trusted_for: int = 3600 * SECOND_NS
    """A sub-task of which nothing was said for so long is no longer counted."""

    def find_source(self, agent: str, name: str) -> EvidenceSource | None:
        """How a source of this agent is to be taken; None for one that nobody declared."""
        declared = self.sources.get(agent) or self.sources.get("", ())
        return next((one for one in declared if one.name == name), None)


DEFAULT_THRESHOLDS = Thresholds()
