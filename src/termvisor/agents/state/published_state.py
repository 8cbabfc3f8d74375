"""The published state: made from knowledge at an instant, and replaced only by one who saw its last version."""

from msgspec.structs import replace

from termvisor.agents.state import resolver
from termvisor.agents.state.presence import classify_binding, derive_presence
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS, AgentKnowledge
from termvisor.agents.state.resolver import StateResolution
from termvisor.agents.state.signal_binding import is_ambiguous
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.state import AgentState, Confidence, StateChange, StateProjection
from termvisor.model.ids import RuntimeId


def list_states(knowledge: AgentKnowledge, now: int, thresholds: Thresholds) -> list[AgentState]:
    """What every living agent is doing, in the order of their ids."""
    return [compute_state(knowledge, runtime, now, thresholds) for runtime in sorted(knowledge.roster.tenants)]


def compute_state(
    knowledge: AgentKnowledge, agent_process_id: RuntimeId, now: int, thresholds: Thresholds
) -> AgentState:
    tenant = knowledge.roster.tenants[agent_process_id].runtime
    return build_state(resolve_agent(knowledge, tenant, now, thresholds), tenant, thresholds)


def resolve_agent(
    knowledge: AgentKnowledge, agent_process: AgentProcess, now: int, thresholds: Thresholds
) -> StateResolution:
    ledger = knowledge.ledgers.get(agent_process.id, EMPTY_SOURCE_SLOTS)
    is_reachable = agent_process.place.target not in knowledge.unreachable
    find = resolver.resolve_state if is_reachable else resolver.resolve_unreachable
    found = find(ledger, agent_process.agent, now, thresholds)
    return replace(found, flags=replace(found.flags, ambiguous=is_ambiguous(knowledge.roster, agent_process)))


def build_state(resolution: StateResolution, agent_process: AgentProcess, thresholds: Thresholds) -> AgentState:
    leader = resolution.leader
    binding = classify_binding(resolution.readings, agent_process, thresholds)
    return AgentState(
        runtime=agent_process.id,
        pane=agent_process.pane,
        agent=agent_process.agent,
        value=resolution.value,
        reason=resolution.reason,
        evidence_mode="none" if leader is None else leader.source.tier,
        source="" if leader is None else leader.source.name,
        evidence=None if leader is None or leader.said is None else leader.said.signal,
        since=resolution.since,
        flags=resolution.flags,
        confidence=_rate_confidence(resolution),
        presence=derive_presence(binding),
        binding=binding,
        last_event=max((one.slot.heard_at for one in resolution.readings), default=None),
    )


def compute_change(
    current: StateProjection | None, seen_version: int, state: AgentState, at: int
) -> StateChange | None:
    """The change to publish; None when nothing changed, or when somebody else published since version ``seen``."""
    version = current.version if current is not None else 0
    before = current.state if current is not None else None
    if version != seen_version or (before is not None and before.runtime != state.runtime):
        return None
    if before is not None and _strip_volatile_fields(before) == _strip_volatile_fields(state):
        return None
    return StateChange(at=at, version=version + 1, before=before, after=state)


def _strip_volatile_fields(state: AgentState) -> AgentState:
    """Another signal that says the same is no change."""
    return replace(state, last_event=None, evidence=None)


def _rate_confidence(resolution: StateResolution) -> Confidence:
    leader = resolution.leader
    if leader is None or resolution.value == "unknown":
        return "low"
    steps: tuple[Confidence, ...] = ("high", "medium", "low")
    doubts = (leader.source.tier == "heuristic") + (resolution.flags.contradicted is not None)
    return steps[doubts]
