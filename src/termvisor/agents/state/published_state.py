"""Build the published state of an agent, and the change to publish.

Invariant: losing evidence does not affect presence. While the process is alive, the pane stays managed.
"""

from msgspec.structs import replace

from termvisor.agents.state import resolver
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS, AgentKnowledge
from termvisor.agents.state.resolver import StateResolution
from termvisor.agents.state.signal_binding import is_ambiguous
from termvisor.agents.state.source_slots import SourceReading
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.state import AgentState, Binding, Confidence, StateChange, StateProjection
from termvisor.model.ids import RuntimeId


def list_states(knowledge: AgentKnowledge, now: int, thresholds: Thresholds) -> list[AgentState]:
    """Return the states of all running agents, ordered by id."""
    return [compute_state(knowledge, runtime, now, thresholds) for runtime in sorted(knowledge.roster.agents)]


def compute_state(
    knowledge: AgentKnowledge, agent_process_id: RuntimeId, now: int, thresholds: Thresholds
) -> AgentState:
    agent_process = knowledge.roster.agents[agent_process_id].runtime
    return build_state(resolve_agent(knowledge, agent_process, now, thresholds), agent_process, thresholds)


def resolve_agent(
    knowledge: AgentKnowledge, agent_process: AgentProcess, now: int, thresholds: Thresholds
) -> StateResolution:
    slots = knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
    is_reachable = agent_process.place.target not in knowledge.unreachable
    resolve = resolver.resolve_state if is_reachable else resolver.resolve_unreachable
    resolution = resolve(slots, agent_process.agent, now, thresholds)
    flags = replace(resolution.flags, ambiguous=is_ambiguous(knowledge.roster, agent_process))
    return replace(resolution, flags=flags)


def build_state(resolution: StateResolution, agent_process: AgentProcess, thresholds: Thresholds) -> AgentState:
    leader = resolution.leader
    binding = _classify_binding(resolution.readings, agent_process, thresholds)
    return AgentState(
        runtime=agent_process.id,
        pane=agent_process.pane,
        agent=agent_process.agent,
        value=resolution.value,
        reason=resolution.reason,
        evidence_mode="none" if leader is None else leader.source.tier,
        source="" if leader is None else leader.source.name,
        evidence=None if leader is None or leader.statement is None else leader.statement.signal,
        since=resolution.since,
        flags=resolution.flags,
        confidence=_rate_confidence(resolution),
        presence="unmanaged" if binding == "unmanaged" else "managed",
        binding=binding,
        last_event=max((one.slot.heard_at for one in resolution.readings), default=None),
    )


def compute_change(current: StateProjection | None, state: AgentState, at: int) -> StateChange | None:
    """Return the change to publish with the next version; None if nothing changed."""
    if current is None:
        return StateChange(at=at, version=1, before=None, after=state)
    if _strip_volatile_fields(current.state) == _strip_volatile_fields(state):
        return None
    return StateChange(at=at, version=current.version + 1, before=current.state, after=state)


def is_same_value(before: AgentState, after: AgentState) -> bool:
    """Return True if the value has lasted since. A source that states it again has stated another one in between."""
    is_restated = before.source == after.source and (before.since or 0) < (after.since or 0)
    return before.value == after.value and not is_restated


def _classify_binding(
    readings: tuple[SourceReading, ...], agent_process: AgentProcess, thresholds: Thresholds
) -> Binding:
    """Return how closely a running agent process is followed at this instant."""
    # A process that is alive keeps its pane managed; only a remote agent can vanish with its screen.
    native = [one for one in readings if one.source.tier == "deterministic"]
    if any(one.freshness == "fresh" for one in native):
        return "managed_deterministic_fresh"
    is_gone = not agent_process.pid and _is_agent_missing(readings, thresholds)
    if native:
        is_lost = is_gone and all(one.freshness == "down" for one in native)
        return "unmanaged" if is_lost else "managed_deterministic_stale"
    return "unmanaged" if _is_agent_missing(readings, thresholds) else "managed_heuristic"


def _is_agent_missing(readings: tuple[SourceReading, ...], thresholds: Thresholds) -> bool:
    """Return True if the latest ``max_misses`` screens showed no agent."""
    screens = [one for one in readings if one.source.tier == "heuristic" and one.slot.statement is not None]
    newest = max(screens, key=lambda one: (one.slot.heard_at, one.source.name), default=None)
    return newest is not None and newest.slot.misses >= thresholds.max_misses


def _strip_volatile_fields(state: AgentState) -> AgentState:
    """Remove the fields that every signal changes, because a repeated state is not a change."""
    return replace(state, last_event=None, evidence=None)


def _rate_confidence(resolution: StateResolution) -> Confidence:
    leader = resolution.leader
    if leader is None or resolution.value == "unknown":
        return "low"
    steps: tuple[Confidence, ...] = ("high", "medium", "low")
    doubts = (leader.source.tier == "heuristic") + (resolution.flags.contradicted is not None)
    return steps[doubts]
