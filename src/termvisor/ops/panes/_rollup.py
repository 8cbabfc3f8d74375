"""What listings of windows, sessions and groups share: which panes they gather, and what is summed up of them."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct

from termvisor.model.agent.rollup import AgentRollup, summarize_states
from termvisor.model.agent.state import StateName, select_top_state
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import (
    AGE_COLUMN,
    CONTEXT_COLUMN,
    COST_COLUMN,
    STATE_STYLES,
    TOKENS_COLUMN,
    format_state,
)
from termvisor.ops.agents._pane_agents import PaneWithAgent
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import (
    ListingFilters,
    PaneFilter,
    compute_age,
    count_values,
    find_last_output_at,
    format_optional_timestamp,
)
from termvisor.ops.render.text import TableColumn, format_age
from termvisor.redaction import redact

GroupKey = tuple[str | int, ...]
SessionGrouping = Literal["target-session", "session-name"]
Grouping = Literal["target-session", "session-name", "window", "target", "agent"]


class PaneGroupArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """Which panes count."""

    pane: PaneFilter = None


class AgentTotals(Struct, frozen=True, kw_only=True):
    """Agents together. ``top_state`` is the one that speaks for all, by precedence; null where there is no agent.
    ``waiting`` counts those that wait for a permission or an answer, ``needs_action`` all that need a person.
    """

    agents: int
    top_state: StateName | None
    waiting: int
    running: int
    needs_action: int
    by_state: dict[str, int]
    by_agent: dict[str, int]


class PaneGroupRow(AgentTotals, frozen=True, kw_only=True):
    """What is said of the panes in one place. ``representative`` is the one of them that stands for all, and ``title``
    is its title: the agent's own where it has one. ``state_age`` is how long an agent has been in the top state, of
    several the longest. ``tokens`` and ``cost`` are sums of what was told, ``context_used`` is the fullest.
    """

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
    gaps: int


def get_window_key(member: PaneWithAgent) -> GroupKey:
    facts = member.pane.facts
    return *get_session_key(member), facts.window_index, facts.window_id


def get_session_key(member: PaneWithAgent) -> GroupKey:
    """Sessions of one name on two servers are two."""
    server = member.pane.instance.server
    return server.target, server.socket, member.pane.facts.session_name


def get_session_name_key(member: PaneWithAgent) -> GroupKey:
    return (member.pane.facts.session_name,)


GROUP_KEY_FUNCTIONS: dict[Grouping, Callable[[PaneWithAgent], GroupKey]] = {
    "target-session": get_session_key,
    "session-name": get_session_name_key,
    "window": get_window_key,
    "target": lambda one: (one.pane.instance.server.target,),
    "agent": lambda one: (one.view.state.agent if one.view is not None else "",),
}


def format_group_name(member: PaneWithAgent, grouping: Grouping) -> str:
    """What the panes of one group have in common, in words: `local/work`, `local/work:2`, `codex`."""
    facts, server = member.pane.facts, member.pane.instance.server
    session = f"{server.target}/{facts.session_name}"
    names = {"target-session": session, "window": f"{session}:{facts.window_index}"}
    return names.get(grouping) or str(GROUP_KEY_FUNCTIONS[grouping](member)[0])


async def group_panes(
    services: Services, filters: ListingFilters, get_key: Callable[[PaneWithAgent], GroupKey]
) -> list[list[PaneWithAgent]]:
    """The living panes that pass the filters, those of one place together."""
    return group_members(
        [one for one in await _pane_agents.select_panes_with_agents(services, filters) if one.pane.gone_at is None],
        get_key,
    )


def group_members(
    members: Sequence[PaneWithAgent], get_key: Callable[[PaneWithAgent], GroupKey]
) -> list[list[PaneWithAgent]]:
    """In the order of their places."""
    return [list(group) for _, group in groupby(sorted(members, key=get_key), key=get_key)]


def sum_agents(members: Sequence[PaneWithAgent]) -> dict[str, Any]:
    """The fields of `Summed`."""
    found: AgentRollup = summarize_states(_pane_agents.list_agent_states(members))
    return {
        "agents": found.total,
        "top_state": found.top if found.total else None,
        "waiting": found.waiting,
        "running": found.running,
        "needs_action": found.needs_action,
        "by_state": found.by_state,
        "by_agent": found.by_agent,
    }


def pick_representative(members: Sequence[PaneWithAgent]) -> PaneWithAgent:
    """The pane whose agent was last heard itself, then the one that printed last, then the first by its id."""

    def rank(one: PaneWithAgent) -> tuple[int, int, str]:
        state = one.view.state if one.view is not None else None
        spoke_at = state.last_event if state is not None and state.evidence_mode == "deterministic" else None
        return -(spoke_at or 0), -(one.pane.last_output_at or 0), one.pane.facts.mux_id

    return min(members, key=rank)


def _sum_usage(members: Sequence[PaneWithAgent], now: int) -> dict[str, Any]:
    """How long, how much, how full: None where nobody told."""
    states = _pane_agents.list_agent_states(members)
    since = [
        one.since
        for one in states
        if one.value == select_top_state(state.value for state in states) and one.since is not None
    ]
    spent = [one.view.session.usage for one in members if one.view is not None and one.view.session is not None]
    tokens = [one.total for one in spent if one.total is not None]
    costs = [one.cost for one in spent if one.cost is not None]
    return {
        "state_age": compute_age(min(since), now) if since else None,
        "tokens": sum(tokens) if tokens else None,
        "cost": sum(costs) if costs else None,
        "cost_is_estimated": any(one.is_estimated for one in spent),
        "context_used": max((one.context_used for one in spent if one.context_used is not None), default=None),
    }


def build_group_fields(members: Sequence[PaneWithAgent], now: int) -> dict[str, Any]:
    """The fields of `PlaceRow`."""
    panes = [one.pane for one in members]
    newest, servers = find_last_output_at(panes), {pane.instance.server.socket for pane in panes}
    spokesman = pick_representative(members)
    return {
        "server": min(servers) if len(servers) == 1 else "",
        "panes": tuple(pane.id for pane in panes),
        "representative": spokesman.pane.id,
        "title": redact(spokesman.view.title if spokesman.view is not None else "") or spokesman.pane.facts.title,
        **_sum_usage(members, now),
        "by_activity": count_values(pane.activity.kind for pane in panes),
        "last_output_at": format_optional_timestamp(newest),
        "last_output_age": compute_age(newest, now),
        "gaps": sum(pane.gaps for pane in panes),
        **sum_agents(members),
    }


def format_counts(counts: dict[str, int]) -> str:
    """`2 command, 1 prompt`."""
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in counts.items())


def format_name_counts(counts: dict[str, int]) -> str:
    """`2 claude_code, 1 codex`: names stay as they are."""
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _render_top_state(item: AgentTotals) -> str:
    """`! waiting approval`: the mark stands where a person must act."""
    return f"{'! ' if item.needs_action else ''}{format_state(item.top_state)}" or "-"


def get_state_style(item: AgentTotals) -> str:
    return STATE_STYLES[item.top_state] if item.top_state is not None else ""


AGENTS_COLUMN = TableColumn("AGENTS", lambda item: format_name_counts(item.by_agent) or "-", can_shrink=True)
_AGENT_COLUMNS = (
    TableColumn("STATE", _render_top_state, choose_style=get_state_style),
    AGE_COLUMN,
    TableColumn("WAIT", lambda item: str(item.waiting or "-"), is_right_aligned=True, style="yellow"),
    TableColumn("RUN", lambda item: str(item.running or "-"), is_right_aligned=True, style="green"),
)
PANE_COLUMNS = (
    TableColumn("TITLE", lambda item: item.title or "-", can_shrink=True, is_optional=True),
    TableColumn("ACTIVITY", lambda item: format_counts(item.by_activity), can_shrink=True, is_optional=True),
    TableColumn("OUTPUT", lambda item: format_age(item.last_output_age), is_right_aligned=True, is_optional=True),
    TableColumn("GAPS", lambda item: str(item.gaps or "-"), is_right_aligned=True, style="yellow", is_optional=True),
)

_USAGE_COLUMNS = (TOKENS_COLUMN, CONTEXT_COLUMN, COST_COLUMN)


def build_columns(
    leading: Sequence[TableColumn], items: Sequence[AgentTotals], agents_column: TableColumn = AGENTS_COLUMN
) -> tuple[TableColumn, ...]:
    """What stands before, what agents do where there are any, and what panes do. ``who`` names the agents."""
    has_agents = any(item.agents for item in items)
    return (
        *leading,
        *((*_AGENT_COLUMNS, agents_column) if has_agents else ()),
        *PANE_COLUMNS,
        *(_USAGE_COLUMNS if has_agents else ()),
    )
