"""The op `status`: one screen that says how the agents are, who needs a person, and what cannot be heard."""

from typing import Annotated

from msgspec import Meta

from termvisor.clock import iso
from termvisor.model.agent import attention
from termvisor.model.agent.state import PRECEDENCE
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.agents._agent_row import AGE, AGENT, NEEDS, STATE, STYLES, AgentRow, beside, row
from termvisor.ops.agents.list_sources import SourceItem, item
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes import _rollup as rollup
from termvisor.ops.panes._listing import Listing, counts
from termvisor.ops.render.text import Column, Look, age, clean, counted, table

_MOST = 10
"""Rows of one kind that a person is shown."""


class Status(crew.Chosen, frozen=True, kw_only=True):
    """Which agents, and how they are put together."""

    group_by: Annotated[
        rollup.Grouping,
        Meta(description="What is summed up: sessions of one server, all of one name, windows, targets or agents."),
    ] = "target-session"


class GroupItem(rollup.Summed, frozen=True, kw_only=True):
    """``name`` is what they have in common."""

    name: str
    panes: tuple[int, ...]


class StatusSummary(rollup.Summed, frozen=True, kw_only=True):
    panes: int
    by_target: dict[str, int]
    """How many agents each target has."""


class StatusReport(Listing, frozen=True, kw_only=True):
    """``items`` are the agents that need a person, by what waiting costs, and of one kind the oldest first; those with
    ``needs_action`` cannot go on without one. ``down`` are the sources that cannot be heard.
    """

    summary: StatusSummary
    items: tuple[AgentRow, ...]
    groups: tuple[GroupItem, ...]
    down: tuple[SourceItem, ...]


async def run(world: World, wanted: Status) -> StatusReport:
    given = crew.given(wanted)
    members, now = await crew.crew(world, given), world.clock.now()
    manned = [one for one in members if one.view is not None]
    summary = StatusSummary(
        panes=len(members),
        by_target=counts(one.pane.instance.server.target for one in manned),
        **rollup.summed(members),
    )
    groups = (_group(some, wanted.group_by) for some in rollup.together(manned, rollup.GROUPINGS[wanted.group_by]))
    down = [one for one in await world.agents.sources() if one.status == "down"]
    return StatusReport(
        generated_at=iso(now),
        filters=given,
        summary=summary,
        items=tuple(row(one.pane, one.view, now) for one in queue(manned)),
        groups=tuple(groups),
        down=tuple(item(one, now) for one in down),
    )


def queue(members: list[crew.Member]) -> list[crew.Member]:
    """Those that need a person, the most urgent first."""
    by_pane = {one.pane.id: one for one in members}
    return [by_pane[need.pane] for need in attention.queue(crew.agents_of(members))]


def _group(members: list[crew.Member], grouping: rollup.Grouping) -> GroupItem:
    return GroupItem(
        name=rollup.named(members[0], grouping),
        panes=tuple(one.pane.id for one in members),
        **rollup.summed(members),
    )


def why(one: AgentRow) -> str:
    """What it needs: `asks for permission`."""
    return NEEDS[one.needs] if one.needs is not None else ""


_WAITING = (
    Column("PANE", lambda one: str(one.identity.id), is_right=True, style="bold"),
    Column("SESSION", lambda one: one.identity.session_name, may_shrink=True, style="cyan"),
    AGENT,
    STATE,
    AGE,
    Column("NEEDS", why, may_shrink=True),
    Column("TITLE", lambda one: one.agent_title, may_shrink=True),
)
_GROUPS = (
    Column("WHERE", lambda group: group.name, may_shrink=True, style="cyan"),
    Column("STATES", lambda group: rollup.told(group.by_state), may_shrink=True, paint=rollup.painted),
    Column("AGENTS", lambda group: rollup.told_names(group.by_agent), may_shrink=True),
    Column("PANES", lambda group: " ".join(map(str, group.panes)), may_shrink=True),
)


def plain(report: StatusReport, look: Look) -> str:
    acting = [one for one in report.items if one.needs_action]
    later = [one for one in report.items if not one.needs_action]
    parts = [_head(report, look)]
    parts += _cut(table(_WAITING, acting[:_MOST], look), len(acting))
    parts += ["\n".join(_later(one) for one in later[:_MOST])] if later else []
    if not look.is_quiet and len(report.groups) > 1:
        parts += _cut(table(_GROUPS, report.groups[:_MOST], look), len(report.groups))
    parts += [look.paint("red", clean(_down(one))) for one in report.down]
    return "\n\n".join(part for part in parts if part)


def _head(report: StatusReport, look: Look) -> str:
    """`3 agents: 1 waiting approval, 2 running. 1 needs a person: `visor next`.`"""
    summary = report.summary
    if not summary.agents:
        return "No agents." if report.filters else f"No agents in {counted(summary.panes, 'pane')}."
    occurring = ((name, number) for name in PRECEDENCE if (number := summary.by_state.get(name)))
    states = [look.paint(STYLES[name], rollup.told({name: number})) for name, number in occurring]
    head = f"{counted(summary.agents, 'agent')}: {', '.join(states)}."
    if not summary.needs_action:
        return f"{head} Nobody needs you."
    return f"{head} {summary.needs_action} need{'s' * (summary.needs_action == 1)} you: `visor next`."


def _cut(rows: str, count: int) -> list[str]:
    return [rows + f"\n… and {count - _MOST} more" * (count > _MOST)] if rows else []


def _later(one: AgentRow) -> str:
    """`4 codex has finished (2m ago)`."""
    told = ", ".join([*beside(one.flags), f"{age(one.state_age)} ago"])
    return clean(f"{one.identity.id} {one.agent} {why(one)} ({told})")


def _down(source: SourceItem) -> str:
    detail = f": {source.detail}" if source.detail else ""
    return f"{source.agent}: the source {source.source} cannot be heard{detail} ({source.where})"


OP = Op(
    name="status",
    robot="status",
    summary="How the agents are, on one screen: who needs a person first.",
    doc="""Counts by state, then the agents that cannot go on without a person, by what waiting costs and of one kind
the oldest first, then those that are done or wait for a limit, then sums by session, then what cannot be heard.
Sessions of one name on two servers are two, unless `--group-by session-name` merges them.""",
    Input=Status,
    Output=StatusReport,
    run=run,
    plain=plain,
    examples=(
        Example("status", "all agents"),
        Example("status --session work --group-by window", "one session, window by window"),
        Example("robot status --needs-action", "who needs a person, as JSON"),
    ),
)
