"""Build compact rows of panes for live views, without values that change all the time, such as ages and byte counts."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.state import AgentFlags, EvidenceMode, StateName, UnknownReason
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import ActivityKind, PaneView
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import format_optional_timestamp
from termvisor.redaction import redact

_MAX_REQUESTS = 1000
PaneBriefs = dict[PaneId, "PaneBrief"]


class PaneBrief(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One pane as a live view lists it.

    ``since`` is when the agent came into its state or, without an agent, the pane into its activity. ``flags`` are
    conditions beside the state. ``requests`` are the numbers of the open approval requests about it.
    """

    id: int
    target: str
    session: str
    window_id: str
    window: str
    pane_id: str
    agent: str | None = None
    state: StateName | None = None
    reason: UnknownReason | None = None
    evidence_mode: EvidenceMode = "none"
    source: str = ""
    needs: NeedKind | None = None
    needs_action: bool = False
    flags: tuple[str, ...] = ()
    requests: tuple[int, ...] = ()
    activity: ActivityKind = "unknown"
    command_line: str = ""
    last_exit: int | None = None
    is_dead: bool = False
    since: str | None = None
    title: str = ""
    command: str = ""
    cwd: str = ""
    model: str = ""
    tokens: int | None = None
    cost: float | None = None
    context_used: float | None = None


async def build_briefs(services: Services, known: PaneBriefs | None) -> PaneBriefs:
    """Return the rows of all panes by id; a row that did not change is the same object as in ``known``."""
    panes, views = await services.panes.list_panes(), await services.agents.list_views()
    requests = await _list_requests(services)
    known = known or {}
    briefs = {pane.id: _build_brief(pane, views.get(pane.id), requests.get(pane.id, ())) for pane in panes}
    return {pane: known[pane] if known.get(pane) == brief else brief for pane, brief in briefs.items()}


async def _list_requests(services: Services) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the open requests about each pane, oldest first."""
    requests: dict[int, tuple[int, ...]] = {}
    for approval in await services.gate.approvals.list(is_open=True, limit=_MAX_REQUESTS):
        if approval.pane is not None:
            requests[approval.pane] = (*requests.get(approval.pane, ()), approval.id)
    return requests


def find_changed(before: Mapping[PaneId, PaneBrief], after: Mapping[PaneId, PaneBrief]) -> tuple[PaneBrief, ...]:
    """Return the rows that are new or changed."""
    return tuple(brief for pane, brief in after.items() if before.get(pane) is not brief)


def _build_brief(pane: PaneView, view: AgentView | None, requests: tuple[int, ...]) -> PaneBrief:
    facts, activity = pane.facts, pane.activity
    agent: dict[str, Any] = {"since": format_optional_timestamp(activity.since), "title": redact(facts.title)}
    return PaneBrief(
        id=pane.id,
        target=pane.instance.server.target,
        session=facts.session_name,
        window_id=facts.window_id,
        window=f"{facts.window_index}:{facts.window_name}",
        pane_id=facts.mux_id,
        requests=requests,
        activity=activity.kind,
        command_line=activity.command_line or "",
        last_exit=activity.last_exit,
        is_dead=facts.dead,
        command=facts.command,
        cwd=facts.cwd,
        **(agent if view is None else agent | _collect_agent_values(view)),
    )


def _collect_agent_values(view: AgentView) -> dict[str, Any]:
    state, session = view.state, view.session
    values: dict[str, Any] = {
        "agent": state.agent,
        "state": state.value,
        "reason": state.reason,
        "evidence_mode": state.evidence_mode,
        "source": state.source,
        "needs": view.need,
        "needs_action": view.needs_action,
        "flags": tuple(_list_flags(state.flags)),
        "since": format_optional_timestamp(state.since),
    }
    if view.title:
        values["title"] = redact(view.title)
    if session is not None:
        usage = session.usage
        values |= {"model": redact(session.model), "tokens": usage.total, "cost": usage.cost}
        values["context_used"] = usage.context_used
    return values


def _list_flags(flags: AgentFlags) -> list[str]:
    labels = ["usage limit"] * flags.usage_limited + ["compacting"] * flags.compacting
    labels += ["login required"] * flags.auth_needed
    labels += [f"{flags.subtasks} subtask{'s' * (flags.subtasks > 1)}"] * bool(flags.subtasks)
    if other := flags.contradicted:
        labels.append(f"but {other.by} shows {other.state.replace('_', ' ')}")
    return labels + ["ambiguous"] * flags.ambiguous
