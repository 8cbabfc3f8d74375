"""Why: the state of one agent with all its witnesses, and what would change it."""

from termvisor.agents.state.published_state import published, resolved
from termvisor.agents.state.reducer import Knowledge
from termvisor.agents.state.resolver import Resolution
from termvisor.agents.state.source_reading import Witness, agree
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.explanation import Explanation, Prospect, Role, Testimony
from termvisor.model.ids import RuntimeId

_ROLES: dict[str, Role] = {"stale": "stale", "down": "down", "gap": "gap"}


def explain(knowledge: Knowledge, runtime: RuntimeId, now: int, measure: Measure) -> Explanation:
    tenant = knowledge.roster.tenants[runtime].runtime
    resolution = resolved(knowledge, tenant, now, measure)
    return Explanation(
        state=published(resolution, tenant, measure),
        age=None if resolution.since is None else max(0, now - resolution.since),
        testimonies=tuple(_testimony(one, resolution, now) for one in resolution.witnesses),
        would_change=tuple(_prospects(resolution, measure)),
        doubts=tuple(_doubts(resolution, tenant)),
    )


def _doubts(resolution: Resolution, runtime: Runtime) -> list[str]:
    found = []
    if not runtime.pid:
        found.append("its process is on the other side of what the pane shows: only its screen says that it is there")
    if resolution.flags.ambiguous:
        found.append(f"more than one of it worked in {runtime.cwd}: what names no process there is not believed")
    return found


def _testimony(one: Witness, resolution: Resolution, now: int) -> Testimony:
    said = one.slot.said
    return Testimony(
        source=one.source.name,
        tier=one.source.tier,
        rank=one.source.rank,
        role=_role(one, resolution),
        said=None if said is None else said.state,
        evidence=None if said is None else said.signal,
        since=None if said is None else said.since,
        age=max(0, now - one.slot.heard_at),
    )


def _role(one: Witness, resolution: Resolution) -> Role:
    leader = resolution.leader
    if leader is not None and one.source == leader.source:
        return "decides"
    if one.source.name in resolution.overtaken:
        return "overtaken"
    if one.freshness != "fresh":
        return _ROLES[one.freshness]
    if one.slot.said is None:
        return "silent"
    if one.said != one.slot.said:
        return "unsettled"
    if leader is None or agree(one.state, leader.state):
        return "agrees"
    if one.state == "unknown":
        return "silent"
    return "contradicts" if one.source.tier == "heuristic" else "suppressed"


def _prospects(resolution: Resolution, measure: Measure) -> list[Prospect]:
    leader = resolution.leader
    if resolution.reason == "target_unreachable":
        return [Prospect(what="the machine answers again")]
    if leader is None:
        return [Prospect(what="any source says what the agent is doing")]
    found = [Prospect(what=f"{leader.source.name} says something else, or a source of a better rank does")]
    found += [Prospect(what="the sub-tasks end")] * (resolution.value == "running" and leader.state != "running")
    if resolution.value == "completed":
        found.append(Prospect(what="becomes idle", at=leader.since + measure.completed_for))
    limit = measure.fresh_for if leader.source.beats else leader.source.trusted_for
    found.append(Prospect(what=f"{leader.source.name} stays silent", at=leader.slot.heard_at + limit + 1))
    if resolution.flags.resets_at is not None:
        found.append(Prospect(what="the usage limit ends", at=resolution.flags.resets_at))
    return found
