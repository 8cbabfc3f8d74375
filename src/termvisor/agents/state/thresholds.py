"""The sources of each agent, and how long their evidence is believed (`Thresholds`). Durations are nanoseconds."""

from msgspec import Struct, field

from termvisor.model.agent.evidence import DEFAULT_SOURCES, EvidenceSource

SECOND_NS = 10**9


class Thresholds(Struct, frozen=True, kw_only=True):
    sources: dict[str, tuple[EvidenceSource, ...]] = field(default_factory=lambda: {"": DEFAULT_SOURCES})
    """By agent, as declared by its adapter; the empty name has those of all other agents."""
    fresh_for: int = 3 * SECOND_NS
    """How long a source with heartbeats may be silent."""
    down_after: int = 15 * SECOND_NS
    contradicted_after: int = 5 * SECOND_NS
    recovered_after: int = 15 * SECOND_NS
    """An incomplete source that is silent and contradicted by the screen for this long is no longer believed."""
    refined_within: int = 2 * SECOND_NS
    """How long before the `idle` of one source another may have reported the end that the first cannot report."""
    settled_after: int = SECOND_NS // 4
    """How long an `idle` must last if its source cannot report errors or ends, which another source soon reports."""
    completed_for: int = 120 * SECOND_NS
    tombstone_for: int = 120 * SECOND_NS
    pending_for: int = 10 * SECOND_NS
    max_pending_signals: int = 1000
    idle_after: int = 4 * SECOND_NS
    """How long rest must be shown if nothing else was shown before."""
    ended_after: int = 2 * SECOND_NS
    """How long rest must be shown after work or a dialog: the time between two screens of an active pane."""
    looks_until_idle: int = 2
    moved_within: int = 8 * SECOND_NS
    """A screen that shows work is believed if the pane changed within this time."""
    demoted_after: int = 45 * SECOND_NS
    max_misses: int = 2
    """Number of consecutive screens without an agent after which the agent counts as gone."""
    remembered_for: int = 720 * SECOND_NS
    """How long the key of a signal is remembered: the longest rewind of a source (10 min) plus two minutes."""
    max_seen_signals: int = 1024
    """Per source; older signals are rejected by the cursor."""
    task_trusted_for: int = 3600 * SECOND_NS
    """A sub-task without a report for this long is no longer counted."""

    def find_source(self, agent: str, name: str) -> EvidenceSource | None:
        """Return the declaration of a source of this agent; None if it is not declared."""
        declared = self.sources.get(agent) or self.sources.get("", ())
        return next((one for one in declared if one.name == name), None)


DEFAULT_THRESHOLDS = Thresholds()
