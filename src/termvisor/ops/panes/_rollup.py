"""Group panes by window, session or agent, and compute totals of each group."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, ClassVar, Literal

from msgspec import Struct

from termvisor.model.agent.attention import find_need
from termvisor.model.agent.state import PRECEDENCE, AgentState, StateName, select_top_state
from termvisor.ops.agents import _agent_row, _pane_agents
from termvisor.ops.agents._pane_agents import PaneWithAgent
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneFilter
from termvisor.ops.render.results import ListingFilters, compute_age, count_values, format_optional_timestamp
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import format_age
from termvisor.redaction import redact

GroupKey = tuple[str | int, ...]
SessionGrouping = Literal["target-session", "session-name"]
Grouping = Literal["target-session", "session-name", "window", "target", "agent"]


class AgentRollup(Struct, frozen=True, kw_only=True):
    """A summary of many agents: the most important state, and counts.

    ``by_state`` and ``by_agent`` omit zero counts. States are sorted by precedence, agents by name.
    """

    top: StateName
    total: int
    waiting: int
    running: int
    needs_action: int
    by_state: dict[StateName, int]
    by_agent: dict[str, int]


def summarize_states(states: Sequence[AgentState]) -> AgentRollup:
    """Summarize the states of panes that run an agent."""
    managed = [state for state in states if state.presence == "managed"]
    by_state = Counter(state.value for state in managed)
    by_agent = Counter(state.agent for state in managed)
    needs = [need for state in managed if (need := find_need(state)) is not None]
    return AgentRollup(
        top=select_top_state(by_state),
        total=len(managed),
        waiting=by_state["waiting_approval"] + by_state["waiting_input"],
        running=by_state["running"],
        needs_action=sum(one.is_action for one in needs),
        by_state={name: by_state[name] for name in PRECEDENCE if by_state[name]},
        by_agent=dict(sorted(by_agent.items())),
    )


class PaneGroupArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """Filters on the panes that are grouped."""

    pane: PaneFilter = None


class AgentTotals(Struct, frozen=True, kw_only=True):
    """Totals over agents. ``top_state`` is the state with the highest precedence; null without agents. ``waiting``
    counts agents that wait for a permission or an answer, ``needs_action`` all that need a person.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("waiting", "running", "by_agent")

    agents: int = 0
    top_state: StateName | None
    waiting: int
    running: int
    needs_action: int = 0
    by_state: dict[str, int]
    by_agent: dict[str, int]


class PaneGroupRow(AgentTotals, frozen=True, kw_only=True):
    """Totals of one group of panes. ``title`` is that of the ``representative`` pane, or of its agent. ``state_age`` is
    the longest time an agent has been in the top state. ``tokens`` and ``cost`` are sums over the agents that report
    them, ``context_used`` is the maximum.
    """

    detail_fields: ClassVar[tuple[str, ...]] = (
        *("server", "representative", "tokens", "cost", "cost_is_estimated", "context_used", "by_activity"),
        *("last_output_at", "last_output_age"),
    )

    server: str
    panes: tuple[int, ...]
    representative: int
    title: str
    state_age: float | None
    tokens: int | None
    cost: float | None
    cost_is_estimated: bool
    context_used: float | None
    by_activity: dict[str, int]
    last_output_at: str | None
    last_output_age: float | None
    gaps: int = 0


def get_window_key(member: PaneWithAgent) -> GroupKey:
    facts = member.pane.facts
    return *get_session_key(member), facts.window_index, facts.window_id


def get_session_key(member: PaneWithAgent) -> GroupKey:
    """Return the key of a session; equal names on two servers are two sessions."""
    server = member.pane.instance.server
    return server.target, server.socket, member.pane.facts.session_name


GROUP_KEY_FUNCTIONS: dict[Grouping, Callable[[PaneWithAgent], GroupKey]] = {
    "target-session": get_session_key,
    "session-name": lambda member: (member.pane.facts.session_name,),
    "window": get_window_key,
    "target": lambda member: (member.pane.instance.server.target,),
    "agent": lambda member: (member.view.state.agent if member.view is not None else "",),
}


def format_group_name(member: PaneWithAgent, grouping: Grouping) -> str:
    """Return the name of a group: `local/work`, `local/work:2`, `codex`."""
    facts, server = member.pane.facts, member.pane.instance.server
    session = f"{server.target}/{facts.session_name}"
    names = {"target-session": session, "window": f"{session}:{facts.window_index}"}
    return names.get(grouping) or str(GROUP_KEY_FUNCTIONS[grouping](member)[0])


async def group_panes(
    services: Services, filters: ListingFilters, get_key: Callable[[PaneWithAgent], GroupKey]
) -> list[list[PaneWithAgent]]:
    """Return the existing panes that match the filters, grouped by key."""
    return group_members(
        [m for m in await _pane_agents.select_panes_with_agents(services, filters) if m.pane.gone_at is None], get_key
    )


def group_members(
    members: Sequence[PaneWithAgent], get_key: Callable[[PaneWithAgent], GroupKey]
) -> list[list[PaneWithAgent]]:
    """Group the members by key; return the groups ordered by key."""
    return [list(group) for _, group in groupby(sorted(members, key=get_key), key=get_key)]


def sum_agents(members: Sequence[PaneWithAgent]) -> dict[str, Any]:
    """Return the fields of `AgentTotals`."""
    rollup: AgentRollup = summarize_states(_pane_agents.list_agent_states(members))
    return {
        "agents": rollup.total,
        "top_state": rollup.top if rollup.total else None,
        "waiting": rollup.waiting,
        "running": rollup.running,
        "needs_action": rollup.needs_action,
        "by_state": rollup.by_state,
        "by_agent": rollup.by_agent,
    }


def pick_representative(members: Sequence[PaneWithAgent]) -> PaneWithAgent:
    """Return the pane with the newest agent event, else the newest output, else the lowest id."""

    def rank(member: PaneWithAgent) -> tuple[int, int, str]:
        state = member.view.state if member.view is not None else None
        event_at = state.last_event if state is not None and state.evidence_mode == "deterministic" else None
        return -(event_at or 0), -(member.pane.last_output_at or 0), member.pane.facts.mux_id

    return min(members, key=rank)


def _sum_usage(members: Sequence[PaneWithAgent], now: int) -> dict[str, Any]:
    """Return state age, tokens, cost and context use; None where no agent reports a value."""
    states = _pane_agents.list_agent_states(members)
    top_state = select_top_state(state.value for state in states)
    since = [state.since for state in states if state.value == top_state and state.since is not None]
    # An agent that reports no usage is left out: unknown is not zero.
    usages = [m.view.session.usage for m in members if m.view is not None and m.view.session is not None]
    tokens = [usage.total for usage in usages if usage.total is not None]
    costs = [usage.cost for usage in usages if usage.cost is not None]
    return {
        "state_age": compute_age(min(since), now) if since else None,
        "tokens": sum(tokens) if tokens else None,
        "cost": sum(costs) if costs else None,
        "cost_is_estimated": any(usage.is_estimated for usage in usages),
        "context_used": max((u.context_used for u in usages if u.context_used is not None), default=None),
    }


def build_group_fields(members: Sequence[PaneWithAgent], now: int) -> dict[str, Any]:
    """Return the fields of `PaneGroupRow`."""
    panes = [member.pane for member in members]
    newest = max((pane.last_output_at for pane in panes if pane.last_output_at is not None), default=None)
    servers = {pane.instance.server.key for pane in panes}
    representative = pick_representative(members)
    agent_title = representative.view.title if representative.view is not None else ""
    return {
        # Sessions of the same name can be merged across several servers; then there is no single server to name.
        "server": min(servers).address if len(servers) == 1 else "",
        "panes": tuple(pane.id for pane in panes),
        "representative": representative.pane.id,
        "title": redact(agent_title) or representative.pane.facts.title,
        **_sum_usage(members, now),
        "by_activity": count_values(pane.activity.kind for pane in panes),
        "last_output_at": format_optional_timestamp(newest),
        "last_output_age": compute_age(newest, now),
        "gaps": sum(pane.gaps for pane in panes),
        **sum_agents(members),
    }


def format_counts(counts: dict[str, int]) -> str:
    """Format as `2 command, 1 prompt`."""
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in counts.items())


def format_name_counts(counts: dict[str, int]) -> str:
    """Format as `2 claude_code, 1 codex`, with names unchanged."""
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _render_top_state(item: AgentTotals) -> str:
    """Format as `! waiting approval`; `!` marks states that need a person."""
    return f"{'! ' if item.needs_action else ''}{_agent_row.format_state(item.top_state)}" or "-"


def get_state_style(item: AgentTotals) -> str:
    return _agent_row.STATE_STYLES[item.top_state] if item.top_state is not None else ""


AGENTS_COLUMN = TableColumn("AGENTS", lambda item: format_name_counts(item.by_agent) or "-", can_shrink=True)
_AGENT_COLUMNS = (
    TableColumn("STATE", _render_top_state, choose_style=get_state_style),
    _agent_row.AGE_COLUMN,
    TableColumn("WAIT", lambda item: str(item.waiting or "-"), is_right_aligned=True, style="yellow", worth=8),
    TableColumn("RUN", lambda item: str(item.running or "-"), is_right_aligned=True, style="green", worth=7),
)
PANE_COLUMNS = (
    TableColumn("TITLE", lambda item: item.title or "-", can_shrink=True, worth=5),
    TableColumn("ACTIVITY", lambda item: format_counts(item.by_activity), can_shrink=True, worth=4),
    TableColumn("OUTPUT", lambda item: format_age(item.last_output_age), is_right_aligned=True, worth=2),
    TableColumn("GAPS", lambda item: str(item.gaps or "-"), is_right_aligned=True, style="yellow", worth=3),
)

_USAGE_COLUMNS = (_agent_row.TOKENS_COLUMN, _agent_row.CONTEXT_COLUMN, _agent_row.COST_COLUMN)


def build_columns(
    leading: Sequence[TableColumn], items: Sequence[AgentTotals], agents_column: TableColumn = AGENTS_COLUMN
) -> tuple[TableColumn, ...]:
    """Return the leading columns, agent columns if any item has agents, and pane columns."""
    has_agents = any(item.agents for item in items)
    return (
        *leading,
        *((*_AGENT_COLUMNS, agents_column) if has_agents else ()),
        *PANE_COLUMNS,
        *(_USAGE_COLUMNS if has_agents else ()),
    )
