"""The op `list_windows`: the windows that hold panes, each with a rollup of its panes."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import AgentRow, build_agent_row, format_state
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _rollup
from termvisor.ops.panes._listing import BaseListing, WindowIdentity, count_values, render_empty_listing
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table


class ListWindowsArgs(_rollup.PaneGroupArgs, frozen=True, kw_only=True):
    """Which windows to list."""

    with_agent_status: Annotated[bool, Meta(description="With a build_agent_row for each agent in them.")] = False


class WindowItem(_rollup.PaneGroupRow, frozen=True, kw_only=True):
    """``agent_rows`` are there with `--with-agent-status`."""

    identity: WindowIdentity
    index: int
    name: str
    agent_rows: tuple[AgentRow, ...] = ()


class WindowsSummary(Struct, frozen=True, kw_only=True):
    windows: int
    panes: int
    by_target: dict[str, int]


class WindowListing(BaseListing, frozen=True, kw_only=True):
    """Windows, by server, session and index."""

    summary: WindowsSummary
    items: tuple[WindowItem, ...]


async def run(services: Services, args: ListWindowsArgs) -> WindowListing:
    given = _pane_agents.collect_agent_filters(args, pane=args.pane)
    groups = await _rollup.group_panes(services, given, _rollup.get_window_key)
    now = services.clock.now()
    items = tuple(_build_window_item(members, now, has_rows=args.with_agent_status) for members in groups)
    summary = WindowsSummary(
        windows=len(items), panes=sum(map(len, groups)), by_target=count_values(item.identity.target for item in items)
    )
    return WindowListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items)


def _build_window_item(members: Sequence[_pane_agents.PaneWithAgent], now: int, *, has_rows: bool) -> WindowItem:
    pane = members[0].pane
    target, facts = pane.instance.server.target, pane.facts
    rows = (build_agent_row(one.pane, one.view, now) for one in members if one.view is not None and has_rows)
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
    TableColumn("ID", lambda item: item.identity.window_id),
    TableColumn("PANES", lambda item: " ".join(map(str, item.panes)), can_shrink=True),
)


def _format_agent_rows(item: WindowItem) -> str:
    """`2 claude_code waiting approval, 3 codex running`."""
    told = (f"{one.identity.id} {one.agent} {format_state(one.state, one.reason)}" for one in item.agent_rows)
    return ", ".join(told) or "-"


_AGENT_ROWS_COLUMN = TableColumn("AGENTS", _format_agent_rows, can_shrink=True, min_width=30)


def render_text(result: WindowListing, options: RenderOptions) -> str:
    who = _AGENT_ROWS_COLUMN if any(item.agent_rows for item in result.items) else _rollup.AGENTS_COLUMN
    rows = render_table(_rollup.build_columns(COLUMNS, result.items, who), result.items, options)
    if options.is_quiet:
        return rows
    told = f"{pluralize(result.summary.windows, 'window')}, {pluralize(result.summary.panes, 'pane')}"
    return f"{rows}\n\n{told}" if result.items else render_empty_listing("window", result)


OP = Operation(
    name="list_windows",
    aliases=("windows",),
    summary="All windows, each with what its panes are doing.",
    doc="""A window is listed under each session that shows it; `panes` are our pane numbers. `top_state` is the state
that matters most among its agents, beside how many wait and how many run.""",
    args_type=ListWindowsArgs,
    result_type=WindowListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("list-windows", "all windows"),
        OperationExample("windows --session work", "those of one session"),
        OperationExample("list windows --with-agent-status", "with every agent in them"),
    ),
)
