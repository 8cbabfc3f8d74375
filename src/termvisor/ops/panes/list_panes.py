"""The op `list_panes`: every pane that exists, what it is doing, and what was heard of it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.agent.identification import Signature
from termvisor.model.agent.session import AgentView
from termvisor.model.terminal.pane import Activity, ActivityKind, DataPlane, PaneView
from termvisor.ops.agents import _agent_row as agent_row
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes import _rollup as rollup
from termvisor.ops.panes._listing import Listing, PaneFilter, age_of, counts, instant, none
from termvisor.ops.panes._pane_reference import path
from termvisor.ops.render.text import Column, Look, age, clean, counted, size, table


class ListPanes(crew.Chosen, frozen=True, kw_only=True):
    """Which panes to list."""

    pane: PaneFilter = None
    gone: Annotated[bool, Meta(description="Also panes that ended.")] = False


class ActivityItem(Struct, frozen=True, kw_only=True):
    """What a pane is doing, from marks and the stream. ``is_proven``: the marks carried our nonce."""

    kind: ActivityKind
    since: str | None
    age: float | None
    command_line: str | None
    last_exit: int | None
    is_proven: bool


class PaneItem(agent_row.AgentRow, frozen=True, kw_only=True):
    reference: str
    server: str
    window_name: str
    window_index: int
    pane_index: int
    is_active: bool
    command: str
    cwd: str
    title: str
    width: int
    height: int
    activity: ActivityItem
    heard_by: DataPlane
    first_seen_at: str
    last_output_at: str | None
    last_output_age: float | None
    gone_at: str | None
    is_dead: bool
    exit_status: int | None
    exit_signal: int | None
    bytes_heard: int
    bytes_per_second: float
    lines: int
    gaps: int


class PanesSummary(Struct, frozen=True, kw_only=True):
    panes: int
    by_activity: dict[str, int]
    by_target: dict[str, int]
    gaps: int
    agents: rollup.Summed


class PaneListing(Listing, frozen=True, kw_only=True):
    """Panes, by id."""

    summary: PanesSummary
    items: tuple[PaneItem, ...]
    notes: tuple[str, ...] = ()
    """Where there are no panes at all: what may be the reason."""


async def run(world: World, wanted: ListPanes) -> PaneListing:
    given = crew.given(wanted, pane=wanted.pane, gone=wanted.gone)
    members = await crew.crew(world, given, gone=wanted.gone)
    panes, now = [one.pane for one in members], world.clock.now()
    summary = PanesSummary(
        panes=len(panes),
        by_activity=counts(pane.activity.kind for pane in panes),
        by_target=counts(pane.instance.server.target for pane in panes),
        gaps=sum(pane.gaps for pane in panes),
        agents=rollup.Summed(**rollup.summed(members)),
    )
    signatures = await world.agents.signatures()
    items = tuple(item(one.pane, one.view, now, signatures.get(one.pane.id)) for one in members)
    notes = () if items or given else await _reasons(world)
    return PaneListing(generated_at=iso(now), filters=given, summary=summary, items=items, notes=notes)


async def _reasons(world: World) -> tuple[str, ...]:
    """Why nothing may be there to be listed."""
    health = await world.upkeep.health()
    silent = [f"No tmux server answers on {server.socket}" for server in health.servers if not server.mux_ok]
    return (*health.alerts, *silent)


def item(pane: PaneView, view: AgentView | None, now: int, seen: Signature | None = None) -> PaneItem:
    facts = pane.facts
    return PaneItem(
        **agent_row.fields(pane, view, now, seen),
        reference=path(pane),
        server=pane.instance.server.socket,
        window_name=facts.window_name,
        window_index=facts.window_index,
        pane_index=facts.pane_index,
        is_active=facts.active,
        command=facts.command,
        cwd=facts.cwd,
        title=facts.title,
        width=facts.width,
        height=facts.height,
        activity=_activity(pane.activity, now),
        heard_by=pane.heard_by,
        first_seen_at=iso(pane.first_seen_at),
        last_output_at=instant(pane.last_output_at),
        last_output_age=age_of(pane.last_output_at, now),
        gone_at=instant(pane.gone_at),
        is_dead=facts.dead,
        exit_status=facts.dead_status,
        exit_signal=facts.dead_signal,
        bytes_heard=pane.bytes_heard,
        bytes_per_second=round(pane.bytes_per_second, 1),
        lines=pane.lines,
        gaps=pane.gaps,
    )


def _activity(activity: Activity, now: int) -> ActivityItem:
    return ActivityItem(
        kind=activity.kind,
        since=instant(activity.since),
        age=age_of(activity.since, now),
        command_line=activity.command_line,
        last_exit=activity.last_exit,
        is_proven=activity.is_proven,
    )


def doing(pane: PaneItem) -> str:
    """A few words on what a pane is doing: `! waiting approval`, `prompt (1)`, `$ make test`, `alt screen`, `ended`."""
    activity = pane.activity
    if pane.state is not None:
        return agent_row.state_cell(pane)
    if pane.gone_at is not None:
        return "ended"
    if pane.is_dead:
        return f"dead ({'signal ' + str(pane.exit_signal) if pane.exit_signal else pane.exit_status})"
    if activity.kind == "command":
        return f"$ {activity.command_line}" if activity.command_line else "command"
    if activity.kind == "prompt" and activity.last_exit:
        return f"prompt ({activity.last_exit})"
    return activity.kind.replace("_", " ")


def since(pane: PaneItem) -> float | None:
    """Seconds for which the pane has been doing that."""
    return pane.state_age if pane.state is not None else pane.activity.age


COLUMNS = (
    Column("ID", lambda pane: str(pane.identity.id), is_right=True, style="bold"),
    Column("SESSION", lambda pane: pane.identity.session_name, may_shrink=True, style="cyan"),
    Column("WINDOW", lambda pane: f"{pane.window_index}:{pane.window_name}", may_shrink=True),
    Column("PANE", lambda pane: pane.identity.pane_id),
    agent_row.AGENT,
    Column("STATE", doing, may_shrink=True, paint=agent_row.painted, narrowest=agent_row.STATE_WIDTH),
    Column("AGE", lambda pane: age(since(pane)), is_right=True),
    Column("TITLE", lambda pane: pane.agent_title or pane.title, may_shrink=True),
    Column("COMMAND", lambda pane: pane.command, may_shrink=True, is_extra=True),
    *agent_row.USED,
    Column("CWD", lambda pane: pane.cwd, may_shrink=True, style="dim", is_extra=True),
    Column("OUTPUT", lambda pane: age(pane.last_output_age), is_right=True),
    Column("GAPS", lambda pane: str(pane.gaps or "-"), is_right=True, style="yellow"),
    Column("BYTES", lambda pane: size(pane.bytes_heard), is_right=True, is_extra=True),
    Column("RATE", lambda pane: f"{size(pane.bytes_per_second)}/s", is_right=True, is_extra=True),
)

_OF_AGENTS = (agent_row.AGENT, *agent_row.USED)


def columns(listing: PaneListing) -> list[Column]:
    """Those of agents are left out where they would say nothing."""
    return [column for column in COLUMNS if column not in _OF_AGENTS or _says_something(column, listing)]


def _says_something(column: Column, listing: PaneListing) -> bool:
    return any(column.cell(item) not in ("", "-") for item in listing.items)


def plain(listing: PaneListing, look: Look) -> str:
    rows = table(columns(listing), listing.items, look)
    if look.is_quiet:
        return rows
    if listing.filters and not listing.items:
        return none("pane", listing)
    return f"{rows}\n\n{_told(listing.summary)}" if listing.items else f"No panes. {_notes(listing, look)}{_DEMO}"


def _told(summary: PanesSummary) -> str:
    agents = summary.agents
    parts = [counted(summary.panes, "pane"), counted(summary.gaps, "gap")]
    if agents.agents:
        parts.append(f"{counted(agents.agents, 'agent')} ({rollup.told(agents.by_state)})")
    if agents.needs_action:
        parts.append(f"{agents.needs_action} need{'s' * (agents.needs_action == 1)} a person: `visor next`")
    return ", ".join(parts)


_DEMO = "`visor demo` starts some to try things on."


def _notes(listing: PaneListing, look: Look) -> str:
    return "".join(look.paint("yellow", f"{clean(note)}.") + " " for note in listing.notes)


OP = Op(
    name="list_panes",
    aliases=("panes",),
    robot="state",
    summary="All panes: where they are, what they do, what was heard.",
    doc="""Lists the panes of every watched multiplexer server by our own number, which is never reused and is the
shortest reference to a pane.

A pane with an agent shows the agent's `state`, how long it holds, and a `!` where a person is needed; `visor explain`
says why a state is believed. What is not known is `unknown` with its `reason`, never `idle`. A pane without an
agent shows its `activity`, which comes from shell marks and the stream, never from text that looks like a prompt.""",
    Input=ListPanes,
    Output=PaneListing,
    run=run,
    plain=plain,
    examples=(
        Example("list-panes", "all panes"),
        Example("list-panes --session work", "the panes of one session"),
        Example("panes --needs-action", "the agents that wait for you"),
        Example("robot state --state waiting,error --agent codex", "those of one agent in these states, as JSON"),
        Example("robot state --pane 7", "one pane, as JSON"),
    ),
)
