"""The operation `status`: summarize all agents, those that need a person first, and the sources that are down."""

from collections.abc import Iterable
from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.state import PRECEDENCE
from termvisor.ops.agents import _agent_row, _pane_agents
from termvisor.ops.agents.list_sources import SourceItem, build_source_item
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _rollup
from termvisor.ops.panes._pane_reference import PaneFilter
from termvisor.ops.render.results import BaseListing, copy_fields, count_values
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_age, pluralize, sanitize
from termvisor.redaction import redact

# Rows of each table in the text output.
_MAX_ROWS = 10
_UNPROVEN_STATUSES = ("unseen", "unknown", "between_recorded")


class StatusArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """Choose agents and how to group them."""

    pane: PaneFilter = None
    group_by: Annotated[_rollup.Grouping, Meta(description="Sum up agents by this.")] = "target-session"


class AgentGroupItem(_rollup.AgentTotals, frozen=True, kw_only=True):
    """Totals of the agents that share ``name``."""

    name: str
    panes: tuple[int, ...]


class StatusSummary(_rollup.AgentTotals, frozen=True, kw_only=True):
    detail_fields: ClassVar[tuple[str, ...]] = ("by_target",)

    panes: int
    by_target: dict[str, int]
    """Agents of each target."""


class AgentVersionItem(ProgramVersion, frozen=True, kw_only=True):
    """One version of an agent and the panes in which it runs; ``screens`` are those of all these panes."""

    agent: str
    panes: tuple[int, ...]


class OpenRequestItem(Struct, frozen=True, kw_only=True):
    """An open request in the inbox that concerns a pane; `visor approve <id>` answers it."""

    id: int
    pane: int


class StatusReport(BaseListing, frozen=True, kw_only=True):
    """``items`` are the agents that need a person, most urgent first, then longest waiting, or with `--pane` the agent
    of that pane; those with ``needs_action`` cannot continue without one.
    ``requests`` are the open requests in the inbox. ``down`` are the sources that cannot
    be read. ``versions`` are the running programs.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("groups", "versions")

    summary: StatusSummary
    items: tuple[_agent_row.AgentRow, ...]
    groups: tuple[AgentGroupItem, ...]
    down: tuple[SourceItem, ...]
    versions: tuple[AgentVersionItem, ...] = ()
    requests: tuple[OpenRequestItem, ...] = ()


async def run(services: Services, args: StatusArgs) -> StatusReport:
    filters = _pane_agents.collect_agent_filters(args, pane=args.pane)
    members, now = await _pane_agents.select_panes_with_agents(services, filters), services.clock.now()
    with_agent = [member for member in members if member.view is not None]
    # Who names a pane asks about its agent, whether it needs a person or not.
    waiting = with_agent if args.pane else _pane_agents.list_agents_needing_action(with_agent)
    summary = StatusSummary(
        panes=len(members),
        by_target=count_values(member.pane.instance.server.target for member in with_agent),
        **_rollup.sum_agents(members),
    )
    groups = _rollup.group_members(with_agent, _rollup.GROUP_KEY_FUNCTIONS[args.group_by])
    sources = await services.agents.list_sources()
    return StatusReport(
        generated_at=format_timestamp(now),
        filters=filters,
        summary=summary,
        items=tuple(_agent_row.build_agent_row(member.pane, member.view, now) for member in waiting),
        groups=tuple(_build_group(group, args.group_by) for group in groups),
        down=tuple(build_source_item(source, now) for source in sources if source.status == "down"),
        versions=_collect_versions(member.view for member in with_agent if member.view is not None),
        requests=tuple(
            OpenRequestItem(id=number, pane=pane)
            for pane, numbers in (await _pane_agents.list_open_requests(services)).items()
            for number in numbers
        ),
    )


def _collect_versions(views: Iterable[AgentView]) -> tuple[AgentVersionItem, ...]:
    """Return one item for each agent and version, with the screens of all its panes."""
    found: dict[tuple[str, str], list[AgentView]] = {}
    for view in views:
        found.setdefault((view.state.agent, view.program.version), []).append(view)
    return tuple(
        copy_fields(
            AgentVersionItem,
            members[0].program,
            agent=agent,
            version=redact(version),
            panes=tuple(member.state.pane for member in members),
            screens=sum(member.program.screens for member in members),
            strange_screens=sum(member.program.strange_screens for member in members),
        )
        for (agent, version), members in sorted(found.items())
    )


def _build_group(members: list[_pane_agents.PaneWithAgent], grouping: _rollup.Grouping) -> AgentGroupItem:
    return AgentGroupItem(
        name=_rollup.format_group_name(members[0], grouping),
        panes=tuple(member.pane.id for member in members),
        **_rollup.sum_agents(members),
    )


def format_need(agent_row: _agent_row.AgentRow) -> str:
    """Describe the need: `asks for permission`."""
    return _agent_row.NEED_DESCRIPTIONS[agent_row.needs] if agent_row.needs is not None else ""


def _build_waiting_columns(report: StatusReport) -> tuple[TableColumn, ...]:
    """Return the columns; the last one names the command that answers the agent's request."""
    numbers = {request.pane: request.id for request in reversed(report.requests)}

    def format_answer(agent_row: _agent_row.AgentRow) -> str:
        number = numbers.get(agent_row.identity.id)
        return f"visor approve {number}" if number is not None else f"visor attach {agent_row.identity.id}"

    return (*_WAITING_COLUMNS, TableColumn("ANSWER", format_answer))


_WAITING_COLUMNS = (
    TableColumn("PANE", lambda item: str(item.identity.id), is_right_aligned=True, style="bold"),
    TableColumn("SESSION", lambda item: item.identity.session_name, can_shrink=True, style="cyan", worth=5),
    _agent_row.AGENT_COLUMN,
    _agent_row.STATE_COLUMN,
    _agent_row.AGE_COLUMN,
    TableColumn("NEEDS", format_need, can_shrink=True, min_width=16, worth=4),
    TableColumn("TITLE", lambda item: item.agent_title, can_shrink=True, min_width=16, worth=7),
)
_GROUP_COLUMNS = (
    TableColumn("WHERE", lambda group: group.name, can_shrink=True, style="cyan"),
    TableColumn(
        "STATES",
        lambda group: _rollup.format_counts(group.by_state),
        can_shrink=True,
        min_width=20,
        choose_style=_rollup.get_state_style,
    ),
    TableColumn(
        "AGENTS", lambda group: _rollup.format_name_counts(group.by_agent), can_shrink=True, min_width=14, worth=5
    ),
    TableColumn("PANES", lambda group: " ".join(map(str, group.panes)), can_shrink=True, worth=4),
)


def render_text(result: StatusReport, options: RenderOptions) -> str:
    # Agents that have only finished are listed separately, because they block nothing.
    blocked = [item for item in result.items if item.needs_action]
    others = [item for item in result.items if not item.needs_action]
    parts = [_format_head(result, options)]
    parts += _append_omitted_count(
        render_table(_build_waiting_columns(result), blocked[:_MAX_ROWS], options), len(blocked)
    )
    parts += ["\n".join(_format_unblocked_agent(item) for item in others[:_MAX_ROWS])] if others else []
    # A single group would only repeat the first line.
    if not options.is_quiet and len(result.groups) > 1:
        parts += _append_omitted_count(
            render_table(_GROUP_COLUMNS, result.groups[:_MAX_ROWS], options), len(result.groups)
        )
    if lines := [_format_version(item) for item in result.versions if item.status in _UNPROVEN_STATUSES]:
        parts.append("\n".join(options.paint("yellow", sanitize(line)) for line in lines))
    parts += [options.paint("red", sanitize(_format_down_source(source))) for source in result.down]
    return "\n\n".join(part for part in parts if part)


def _format_head(report: StatusReport, options: RenderOptions) -> str:
    """Format as `3 agents: 1 waiting approval, 2 running. 1 needs you: `visor next`.`"""
    summary = report.summary
    if not summary.agents:
        return "No agents." if report.filters else f"No agents in {pluralize(summary.panes, 'pane')}."
    occurring = ((name, number) for name in PRECEDENCE if (number := summary.by_state.get(name)))
    states = [
        options.paint(_agent_row.STATE_STYLES[name], _rollup.format_counts({name: number}))
        for name, number in occurring
    ]
    head = f"{pluralize(summary.agents, 'agent')}: {', '.join(states)}."
    if not summary.needs_action:
        return f"{head} No agent needs you."
    return f"{head} {summary.needs_action} need{'s' * (summary.needs_action == 1)} you: `visor next`."


def _append_omitted_count(rows: str, count: int) -> list[str]:
    return [rows + f"\n… and {count - _MAX_ROWS} more" * (count > _MAX_ROWS)] if rows else []


def _format_unblocked_agent(agent_row: _agent_row.AgentRow) -> str:
    """Format as `4 codex has finished (2m ago)`."""
    details = ", ".join([*_agent_row.list_flag_labels(agent_row.flags), f"{format_age(agent_row.state_age)} ago"])
    need = format_need(agent_row) or f"is {(agent_row.state or 'unknown').replace('_', ' ')}"
    return sanitize(f"{agent_row.identity.id} {agent_row.agent} {need} ({details})")


def _format_version(item: AgentVersionItem) -> str:
    """Format as `codex version 0.9 has no recordings, only 0.166.0 (pane 3); details: `visor explain 3``."""
    # What is unproven would fill the screen; `visor explain` lists it.
    panes, description = ", ".join(map(str, item.panes)), replace(item, unproven=()).description
    return f"{item.agent} {description} (pane {panes}); details: `visor explain {item.panes[0]}`"


def _format_down_source(source: SourceItem) -> str:
    detail = f": {source.detail}" if source.detail else ""
    return f"{source.agent}: source {source.source} is down{detail} ({source.where})"


OP = Operation(
    name="status",
    robot_name="status",
    summary="Summarize all agents on one screen; those that need you come first.",
    doc="""Shows counts by state; the agents that cannot continue without a person, most urgent first, then longest
waiting; those that have finished or wait for a usage limit; totals by session; versions of agents that were not
recorded; and sources that are down. Sessions of the same name on two servers are listed apart; `--group-by
session-name` merges them.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("status", "all agents"),
        OperationExample("status --session work --group-by window", "one session, window by window"),
        OperationExample("robot status --needs-action", "agents that need a person, as JSON"),
    ),
)
