"""The published state: made from knowledge at an instant, and replaced only by one who saw its last version."""

from msgspec.structs import replace

from termvisor.agents.state import resolver
from termvisor.agents.state.presence import bound, presence
from termvisor.agents.state.reducer import NOTHING, Knowledge
from termvisor.agents.state.resolver import Resolution
from termvisor.agents.state.signal_binding import is_ambiguous
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.state import AgentState, Confidence, Projection, StateChange
from termvisor.model.ids import RuntimeId


def states(knowledge: Knowledge, now: int, measure: Measure) -> list[AgentState]:
    """What every living agent is doing, in the order of their ids."""
    return [state_of(knowledge, runtime, now, measure) for runtime in sorted(knowledge.roster.tenants)]


def state_of(knowledge: Knowledge, runtime: RuntimeId, now: int, measure: Measure) -> AgentState:
    tenant = knowledge.roster.tenants[runtime].runtime
    return published(resolved(knowledge, tenant, now, measure), tenant, measure)


def resolved(knowledge: Knowledge, runtime: Runtime, now: int, measure: Measure) -> Resolution:
    ledger = knowledge.ledgers.get(runtime.id, NOTHING)
    is_reachable = runtime.place.target not in knowledge.unreachable
    find = resolver.resolve if is_reachable else resolver.unreachable
    found = find(ledger, runtime.agent, now, measure)
    return replace(found, flags=replace(found.flags, ambiguous=is_ambiguous(knowledge.roster, runtime)))


def published(resolution: Resolution, runtime: Runtime, measure: Measure) -> AgentState:
    leader = resolution.leader
    binding = bound(resolution.witnesses, runtime, measure)
    return AgentState(
        runtime=runtime.id,
        pane=runtime.pane,
        agent=runtime.agent,
        value=resolution.value,
        reason=resolution.reason,
        evidence_mode="none" if leader is None else leader.source.tier,
        source="" if leader is None else leader.source.name,
        evidence=None if leader is None or leader.said is None else leader.said.signal,
        since=resolution.since,
        flags=resolution.flags,
        confidence=_confidence(resolution),
        presence=presence(binding),
        binding=binding,
        last_event=max((one.slot.heard_at for one in resolution.witnesses), default=None),
    )


def advance(current: Projection | None, seen: int, state: AgentState, at: int) -> StateChange | None:
    """The change to publish; None when nothing changed, or when somebody else published since version ``seen``."""
    version = current.version if current is not None else 0
    before = current.state if current is not None else None
    if version != seen or (before is not None and before.runtime != state.runtime):
        return None
    if before is not None and _without_times(before) == _without_times(state):
        return None
    return StateChange(at=at, version=version + 1, before=before, after=state)


def _without_times(state: AgentState) -> AgentState:
    """Another signal that says the same is no change."""
    return replace(state, last_event=None, evidence=None)


def _confidence(resolution: Resolution) -> Confidence:
    leader = resolution.leader
    if leader is None or resolution.value == "unknown":
        return "low"
    steps: tuple[Confidence, ...] = ("high", "medium", "low")
    doubts = (leader.source.tier == "heuristic") + (resolution.flags.contradicted is not None)
    return steps[doubts]
