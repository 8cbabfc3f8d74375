"""Operation `list_windows`: list windows with totals of their panes and agents."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.terminal.target import LOCAL
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import AgentRow, build_agent_row, format_state
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _rollup
from termvisor.ops.render.results import BaseListing, count_values, format_empty_listing, render_listing
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, pluralize


class ListWindowsArgs(_rollup.PaneGroupArgs, frozen=True, kw_only=True):
    """Filters on windows."""

    with_agent_status: Annotated[bool, Meta(description="Show the state of each agent.")] = False


class WindowIdentity(Struct, frozen=True, kw_only=True):
    target: str = LOCAL.name
    session_name: str
    window_id: str


class WindowItem(_rollup.PaneGroupRow, frozen=True, kw_only=True):
    """``agent_rows`` is set with `--with-agent-status`."""

    identity: WindowIdentity
    index: int
    name: str
    agent_rows: tuple[AgentRow, ...] = ()


class WindowsSummary(Struct, frozen=True, kw_only=True):
    detail_fields: ClassVar[tuple[str, ...]] = ("by_target",)

    windows: int
    panes: int
    by_target: dict[str, int]


class WindowListing(BaseListing, frozen=True, kw_only=True):
    """Windows, by server, session and index."""

    summary: WindowsSummary
    items: tuple[WindowItem, ...]


async def run(services: Services, args: ListWindowsArgs) -> WindowListing:
    filters = _pane_agents.collect_agent_filters(args, pane=args.pane)
    groups = await _rollup.group_panes(services, filters, _rollup.get_window_key)
    now = services.clock.now()
    items = tuple(_build_window_item(members, now, has_rows=args.with_agent_status) for members in groups)
    summary = WindowsSummary(
        windows=len(items), panes=sum(map(len, groups)), by_target=count_values(item.identity.target for item in items)
    )
    return WindowListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


def _build_window_item(members: Sequence[_pane_agents.PaneWithAgent], now: int, *, has_rows: bool) -> WindowItem:
    pane = members[0].pane
    target, facts = pane.instance.server.target, pane.facts
    rows = (build_agent_row(m.pane, m.view, now) for m in members if m.view is not None and has_rows)
    return WindowItem(
        identity=WindowIdentity(target=target, session_name=facts.session_name, window_id=facts.window_id),
        index=facts.window_index,
        name=facts.window_name,
        agent_rows=tuple(rows),
        **_rollup.build_group_fields(members, now),
    )


COLUMNS = (
    TableColumn("SESSION", lambda item: item.identity.session_name, can_shrink=True, style="cyan"),
    TableColumn("WINDOW", lambda item: f"{item.index}:{item.name}", can_shrink=True),
    TableColumn("ID", lambda item: item.identity.window_id, worth=1),
    TableColumn("PANES", lambda item: " ".join(map(str, item.panes)), can_shrink=True),
)


def _format_agent_rows(item: WindowItem) -> str:
    """Format as `2 claude_code waiting approval, 3 codex running`."""
    rows = (f"{row.identity.id} {row.agent} {format_state(row.state, row.reason)}" for row in item.agent_rows)
    return ", ".join(rows) or "-"


_AGENT_ROWS_COLUMN = TableColumn("AGENTS", _format_agent_rows, can_shrink=True, min_width=30)


def render_text(result: WindowListing, options: RenderOptions) -> str:
    agents = _AGENT_ROWS_COLUMN if any(item.agent_rows for item in result.items) else _rollup.AGENTS_COLUMN
    columns = _rollup.build_columns(COLUMNS, result.items, agents)
    footer = f"{pluralize(result.summary.windows, 'window')}, {pluralize(result.summary.panes, 'pane')}"
    empty = format_empty_listing("window", result)
    return render_listing(columns, result.items, options, empty=empty, footer=footer)


OP = Operation(
    name="list_windows",
    aliases=("windows",),
    summary="List windows with totals of their panes and agents.",
    doc="""A window is listed under each session that contains it; `panes` has the ids of its panes. `top_state` is the
most important state among its agents.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("list-windows", "list all windows"),
        OperationExample("windows --session work", "list the windows of one session"),
        OperationExample("list windows --with-agent-status", "show every agent"),
    ),
)
