"""The op `status`: one screen that says how the agents are, who needs a person, and what cannot be heard."""

from typing import Annotated

from msgspec import Meta

from termvisor.clock import format_timestamp
from termvisor.model.agent import attention
from termvisor.model.agent.state import PRECEDENCE
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import (
    AGE_COLUMN,
    AGENT_COLUMN,
    NEED_DESCRIPTIONS,
    STATE_COLUMN,
    STATE_STYLES,
    AgentRow,
    build_agent_row,
    list_flag_labels,
)
from termvisor.ops.agents.list_sources import SourceItem, build_source_item
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _rollup
from termvisor.ops.panes._listing import BaseListing, count_values
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, pluralize, render_table, sanitize

_MAX_ROWS = 10
"""Rows of one kind that a person is shown."""


class StatusArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """Which agents, and how they are put together."""

    group_by: Annotated[
        _rollup.Grouping,
        Meta(description="What is summed up: sessions of one server, all of one name, windows, targets or agents."),
    ] = "target-session"


class AgentGroupItem(_rollup.AgentTotals, frozen=True, kw_only=True):
    """``name`` is what they have in common."""

    name: str
    panes: tuple[int, ...]


class StatusSummary(_rollup.AgentTotals, frozen=True, kw_only=True):
    panes: int
    by_target: dict[str, int]
    """How many agents each target has."""


class StatusReport(BaseListing, frozen=True, kw_only=True):
    """``items`` are the agents that need a person, by what waiting costs, and of one kind the oldest first; those with
    ``needs_action`` cannot go on without one. ``down`` are the sources that cannot be heard.
    """

    summary: StatusSummary
    items: tuple[AgentRow, ...]
    groups: tuple[AgentGroupItem, ...]
    down: tuple[SourceItem, ...]


async def run(services: Services, args: StatusArgs) -> StatusReport:
    given = _pane_agents.collect_agent_filters(args)
    members, now = await _pane_agents.select_panes_with_agents(services, given), services.clock.now()
    manned = [one for one in members if one.view is not None]
    summary = StatusSummary(
        panes=len(members),
        by_target=count_values(one.pane.instance.server.target for one in manned),
        **_rollup.sum_agents(members),
    )
    groups = (
        _build_group(some, args.group_by)
        for some in _rollup.group_members(manned, _rollup.GROUP_KEY_FUNCTIONS[args.group_by])
    )
    down = [one for one in await services.agents.list_sources() if one.status == "down"]
    return StatusReport(
        generated_at=format_timestamp(now),
        filters=given,
        summary=summary,
        items=tuple(build_agent_row(one.pane, one.view, now) for one in list_agents_needing_action(manned)),
        groups=tuple(groups),
        down=tuple(build_source_item(one, now) for one in down),
    )


def list_agents_needing_action(members: list[_pane_agents.PaneWithAgent]) -> list[_pane_agents.PaneWithAgent]:
    """Those that need a person, the most urgent first."""
    by_pane = {one.pane.id: one for one in members}
    return [by_pane[need.pane] for need in attention.list_needs(_pane_agents.list_agent_states(members))]


def _build_group(members: list[_pane_agents.PaneWithAgent], grouping: _rollup.Grouping) -> AgentGroupItem:
    return AgentGroupItem(
        name=_rollup.format_group_name(members[0], grouping),
        panes=tuple(one.pane.id for one in members),
        **_rollup.sum_agents(members),
    )


def format_need(agent_row: AgentRow) -> str:
    """What it needs: `asks for permission`."""
    return NEED_DESCRIPTIONS[agent_row.needs] if agent_row.needs is not None else ""


_WAITING_COLUMNS = (
    TableColumn("PANE", lambda one: str(one.identity.id), is_right_aligned=True, style="bold"),
    TableColumn("SESSION", lambda one: one.identity.session_name, can_shrink=True, style="cyan"),
    AGENT_COLUMN,
    STATE_COLUMN,
    AGE_COLUMN,
    TableColumn("NEEDS", format_need, can_shrink=True),
    TableColumn("TITLE", lambda one: one.agent_title, can_shrink=True),
)
_GROUP_COLUMNS = (
    TableColumn("WHERE", lambda group: group.name, can_shrink=True, style="cyan"),
    TableColumn(
        "STATES",
        lambda group: _rollup.format_counts(group.by_state),
        can_shrink=True,
        choose_style=_rollup.get_state_style,
    ),
    TableColumn("AGENTS", lambda group: _rollup.format_name_counts(group.by_agent), can_shrink=True),
    TableColumn("PANES", lambda group: " ".join(map(str, group.panes)), can_shrink=True),
)


def render_text(result: StatusReport, options: RenderOptions) -> str:
    acting = [one for one in result.items if one.needs_action]
    later = [one for one in result.items if not one.needs_action]
    parts = [_format_head(result, options)]
    parts += _append_omitted_count(render_table(_WAITING_COLUMNS, acting[:_MAX_ROWS], options), len(acting))
    parts += ["\n".join(_format_later_agent(one) for one in later[:_MAX_ROWS])] if later else []
    if not options.is_quiet and len(result.groups) > 1:
        parts += _append_omitted_count(
            render_table(_GROUP_COLUMNS, result.groups[:_MAX_ROWS], options), len(result.groups)
        )
    parts += [options.paint("red", sanitize(_format_down_source(one))) for one in result.down]
    return "\n\n".join(part for part in parts if part)


def _format_head(report: StatusReport, options: RenderOptions) -> str:
    """`3 agents: 1 waiting approval, 2 running. 1 needs a person: `visor next`.`"""
    summary = report.summary
    if not summary.agents:
        return "No agents." if report.filters else f"No agents in {pluralize(summary.panes, 'pane')}."
    occurring = ((name, number) for name in PRECEDENCE if (number := summary.by_state.get(name)))
    states = [options.paint(STATE_STYLES[name], _rollup.format_counts({name: number})) for name, number in occurring]
    head = f"{pluralize(summary.agents, 'agent')}: {', '.join(states)}."
    if not summary.needs_action:
        return f"{head} Nobody needs you."
    return f"{head} {summary.needs_action} need{'s' * (summary.needs_action == 1)} you: `visor next`."


def _append_omitted_count(rows: str, count: int) -> list[str]:
    return [rows + f"\n… and {count - _MAX_ROWS} more" * (count > _MAX_ROWS)] if rows else []


def _format_later_agent(agent_row: AgentRow) -> str:
    """`4 codex has finished (2m ago)`."""
    told = ", ".join([*list_flag_labels(agent_row.flags), f"{format_age(agent_row.state_age)} ago"])
    return sanitize(f"{agent_row.identity.id} {agent_row.agent} {format_need(agent_row)} ({told})")


def _format_down_source(source: SourceItem) -> str:
    detail = f": {source.detail}" if source.detail else ""
    return f"{source.agent}: the source {source.source} cannot be heard{detail} ({source.where})"


OP = Operation(
    name="status",
    robot_name="status",
    summary="How the agents are, on one screen: who needs a person first.",
    doc="""Counts by state, then the agents that cannot go on without a person, by what waiting costs and of one kind
the oldest first, then those that are done or wait for a limit, then sums by session, then what cannot be heard.
Sessions of one name on two servers are two, unless `--group-by session-name` merges them.""",
    args_type=StatusArgs,
    result_type=StatusReport,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("status", "all agents"),
        OperationExample("status --session work --group-by window", "one session, window by window"),
        OperationExample("robot status --needs-action", "who needs a person, as JSON"),
    ),
)
