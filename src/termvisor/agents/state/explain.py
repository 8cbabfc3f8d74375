"""Explain the state of one agent: the evidence of each source, and what would change the state."""

from termvisor.agents.state.published_state import build_state, resolve_agent
from termvisor.agents.state.reducer import AgentKnowledge
from termvisor.agents.state.resolver import StateResolution
from termvisor.agents.state.source_slots import SourceReading, is_compatible_state
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.evidence import EvidenceRole, ExpectedChange, SourceEvidence, StateExplanation
from termvisor.model.ids import RuntimeId

_ROLE_BY_FRESHNESS: dict[str, EvidenceRole] = {"stale": "stale", "down": "down", "gap": "gap"}


def explain_state(
    knowledge: AgentKnowledge, agent_process_id: RuntimeId, now: int, thresholds: Thresholds
) -> StateExplanation:
    agent_process = knowledge.roster.agents[agent_process_id].runtime
    resolution = resolve_agent(knowledge, agent_process, now, thresholds)
    return StateExplanation(
        state=build_state(resolution, agent_process, thresholds),
        age=None if resolution.since is None else max(0, now - resolution.since),
        testimonies=tuple(_build_source_evidence(one, resolution, now) for one in resolution.readings),
        would_change=tuple(_list_expected_changes(resolution, thresholds)),
        doubts=tuple(_list_doubts(resolution, agent_process)),
    )


def _list_doubts(resolution: StateResolution, agent_process: AgentProcess) -> list[str]:
    doubts = []
    if not agent_process.pid:
        doubts.append("the agent runs remotely, so its process is not visible: only its screen shows that it is there")
    if resolution.flags.ambiguous:
        doubts.append(
            f"several {agent_process.agent} processes worked in {agent_process.cwd}:"
            " signals that name only the folder are ignored"
        )
    return doubts


def _build_source_evidence(reading: SourceReading, resolution: StateResolution, now: int) -> SourceEvidence:
    statement = reading.slot.statement
    return SourceEvidence(
        source=reading.source.name,
        tier=reading.source.tier,
        rank=reading.source.rank,
        role=_classify_role(reading, resolution),
        said=None if statement is None else statement.state,
        evidence=None if statement is None else statement.signal,
        since=None if statement is None else statement.since,
        age=max(0, now - reading.slot.heard_at),
    )


def _classify_role(reading: SourceReading, resolution: StateResolution) -> EvidenceRole:
    leader = resolution.leader
    if leader is not None and reading.source == leader.source:
        return "decides"
    if reading.source.name in resolution.overtaken_sources:
        return "overtaken"
    if reading.freshness != "fresh":
        return _ROLE_BY_FRESHNESS[reading.freshness]
    if reading.slot.statement is None:
        return "silent"
    # The screen already shows another state, which is not believed yet (see `hysteresis`).
    if reading.statement != reading.slot.statement:
        return "unsettled"
    if leader is None or is_compatible_state(reading.state, leader.state):
        return "agrees"
    if reading.state == "unknown":
        return "silent"
    return "contradicts" if reading.source.tier == "heuristic" else "suppressed"


def _list_expected_changes(resolution: StateResolution, thresholds: Thresholds) -> list[ExpectedChange]:
    leader = resolution.leader
    if resolution.reason == "target_unreachable":
        return [ExpectedChange(what="the target becomes reachable again")]
    if leader is None:
        return [ExpectedChange(what="any source reports a state")]
    changes = [ExpectedChange(what=f"{leader.source.name}, or a source of a better rank, reports another state")]
    changes += [ExpectedChange(what="the sub-tasks end")] * (
        resolution.value == "running" and leader.state != "running"
    )
    if resolution.value == "completed":
        changes.append(ExpectedChange(what="becomes idle", at=leader.since + thresholds.completed_for))
    limit = thresholds.fresh_for if leader.source.beats else leader.source.trusted_for
    changes.append(ExpectedChange(what=f"{leader.source.name} sends no signal", at=leader.slot.heard_at + limit + 1))
    if resolution.flags.resets_at is not None:
        changes.append(ExpectedChange(what="the usage limit ends", at=resolution.flags.resets_at))
    return changes
