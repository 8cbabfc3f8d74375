"""Whether a pane has an agent, and how closely it is followed.

A change of tier never changes the presence: while the process lives the pane is managed, whatever can be heard of it.
"""

from termvisor.agents.state.source_reading import SourceReading
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.state import Binding, Presence


def classify_binding(
    readings: list[SourceReading] | tuple[SourceReading, ...], agent_process: AgentProcess, thresholds: Thresholds
) -> Binding:
    """How a living runtime is bound at this instant."""
    told = [one for one in readings if one.source.tier == "deterministic"]
    if any(one.freshness == "fresh" for one in told):
        return "managed_deterministic_fresh"
    is_gone = not agent_process.pid and _is_agent_missing(readings, thresholds)
    if told:
        is_lost = is_gone and all(one.freshness == "down" for one in told)
        return "unmanaged" if is_lost else "managed_deterministic_stale"
    return "unmanaged" if _is_agent_missing(readings, thresholds) else "managed_heuristic"


def derive_presence(binding: Binding) -> Presence:
    return "unmanaged" if binding == "unmanaged" else "managed"


def _is_agent_missing(readings: list[SourceReading] | tuple[SourceReading, ...], thresholds: Thresholds) -> bool:
    """Whether the newest looks found no agent, so many times in a row."""
    looks = [one for one in readings if one.source.tier == "heuristic" and one.slot.said is not None]
    newest = max(looks, key=lambda one: (one.slot.heard_at, one.source.name), default=None)
    return newest is not None and newest.slot.misses >= thresholds.max_misses
