"""Operation `list_sessions`: list sessions with totals of their panes and agents."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.ops.agents import _pane_agents
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _rollup
from termvisor.ops.render.results import BaseListing, count_values, format_empty_listing, render_listing
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, pluralize


class ListSessionsArgs(_rollup.PaneGroupArgs, frozen=True, kw_only=True):
    """Filters, and how sessions are grouped."""

    group_by: Annotated[
        _rollup.SessionGrouping, Meta(description="Group sessions per server, or merge those of the same name.")
    ] = "target-session"
    agent_summary: Annotated[bool, Meta(description="Show the states of each kind of agent.")] = False


class SessionIdentity(Struct, frozen=True, kw_only=True):
    target: str
    session_name: str


class SessionItem(_rollup.PaneGroupRow, frozen=True, kw_only=True):
    """``agent_states`` is set with `--agent-summary`. Sessions merged by name may have several targets; then
    ``identity.target`` is empty.
    """

    identity: SessionIdentity
    attached: int
    windows: int
    by_target: dict[str, int]
    agent_states: dict[str, dict[str, int]]


class SessionsSummary(Struct, frozen=True, kw_only=True):
    sessions: int
    windows: int
    panes: int
    by_target: dict[str, int]


class SessionListing(BaseListing, frozen=True, kw_only=True):
    """Sessions, by server and name."""

    summary: SessionsSummary
    items: tuple[SessionItem, ...]


async def run(services: Services, args: ListSessionsArgs) -> SessionListing:
    filters = _pane_agents.collect_agent_filters(args, pane=args.pane)
    groups = await _rollup.group_panes(services, filters, _rollup.GROUP_KEY_FUNCTIONS[args.group_by])
    now = services.clock.now()
    items = tuple(_build_session_item(members, now, has_states=args.agent_summary) for members in groups)
    panes = [member.pane for members in groups for member in members]
    summary = SessionsSummary(
        sessions=len(items),
        windows=sum(item.windows for item in items),
        panes=len(panes),
        by_target=count_values(target for item in items for target in item.by_target),
    )
    return SessionListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


def _build_session_item(members: Sequence[_pane_agents.PaneWithAgent], now: int, *, has_states: bool) -> SessionItem:
    panes = [member.pane for member in members]
    by_target = count_values(pane.instance.server.target for pane in panes)
    # Every pane of a session reports the number of its clients: count it once per server.
    servers = {pane.instance.server: pane.facts.session_attached for pane in panes}
    target = next(iter(by_target)) if len(by_target) == 1 else ""
    return SessionItem(
        identity=SessionIdentity(target=target, session_name=panes[0].facts.session_name),
        attached=sum(servers.values()),
        windows=len({(pane.instance.server, pane.facts.window_id) for pane in panes}),
        by_target=by_target,
        agent_states=_count_agent_states(members) if has_states else {},
        **_rollup.build_group_fields(members, now),
    )


def _count_agent_states(members: Sequence[_pane_agents.PaneWithAgent]) -> dict[str, dict[str, int]]:
    groups = _rollup.group_members(
        [member for member in members if member.view is not None], _rollup.GROUP_KEY_FUNCTIONS["agent"]
    )
    return {
        state.agent: _rollup.sum_agents(group)["by_state"]
        for group in groups
        for state in _pane_agents.list_agent_states(group[:1])
    }


COLUMNS = (
    TableColumn("SESSION", lambda item: item.identity.session_name, can_shrink=True, style="cyan"),
    TableColumn(
        "TARGET",
        lambda item: item.identity.target or _rollup.format_name_counts(item.by_target),
        can_shrink=True,
        worth=4,
    ),
    TableColumn("ATTACHED", lambda item: str(item.attached or "-"), is_right_aligned=True, worth=5),
    TableColumn("WINDOWS", lambda item: str(item.windows), is_right_aligned=True, worth=6),
    TableColumn("PANES", lambda item: str(len(item.panes)), is_right_aligned=True),
)


def _format_agent_states(item: SessionItem) -> str:
    """Format as `claude_code: 1 waiting approval, 2 running; codex: 1 idle`."""
    return "; ".join(f"{agent}: {_rollup.format_counts(states)}" for agent, states in item.agent_states.items()) or "-"


_AGENT_STATES_COLUMN = TableColumn("AGENTS", _format_agent_states, can_shrink=True, min_width=30)


def render_text(result: SessionListing, options: RenderOptions) -> str:
    agents = _AGENT_STATES_COLUMN if any(item.agent_states for item in result.items) else _rollup.AGENTS_COLUMN
    columns = _rollup.build_columns(COLUMNS, result.items, agents)
    footer = f"{pluralize(result.summary.sessions, 'session')}, {pluralize(result.summary.panes, 'pane')}"
    empty = format_empty_listing("session", result)
    return render_listing(columns, result.items, options, empty=empty, footer=footer)


OP = Operation(
    name="list_sessions",
    aliases=("sessions",),
    summary="List sessions with totals of their panes and agents.",
    doc="""`attached` is the number of attached clients, without those of Termvisor. `top_state` is the most
important state among the agents. Sessions of the same name on two servers are listed separately, unless
`--group-by session-name` merges them.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("list-sessions", "list all sessions"),
        OperationExample("sessions --target local", "list the sessions of one target"),
        OperationExample("list sessions --agent-summary", "show the states of each kind of agent"),
        OperationExample("sessions --group-by session-name", "merge sessions of the same name"),
    ),
)
