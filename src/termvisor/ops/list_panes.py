"""The op `list_panes`: every pane that exists, what it is doing, and what was heard of it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.pane import Activity, ActivityKind, DataPlane, PaneView
from termvisor.ops.base import Example, Op
from termvisor.ops.listing import (
    Listing,
    PaneFilter,
    PaneIdentity,
    SessionFilter,
    TargetFilter,
    age_of,
    chosen,
    counts,
    filters,
    identity,
    instant,
)
from termvisor.ops.look import Column, Look, age, clean, counted, size, table
from termvisor.ops.reference import path
from termvisor.ops.world import World


class ListPanes(Struct, frozen=True, kw_only=True):
    """Which panes to list."""

    session: SessionFilter = None
    target: TargetFilter = None
    pane: PaneFilter = None
    gone: Annotated[bool, Meta(description="Also panes that ended.")] = False


class ActivityItem(Struct, frozen=True, kw_only=True):
    """What a pane is doing, from marks and the stream. ``is_proven``: the marks carried our nonce."""

    kind: ActivityKind
    since: str | None
    command_line: str | None
    last_exit: int | None
    is_proven: bool


class PaneItem(Struct, frozen=True, kw_only=True):
    identity: PaneIdentity
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
    presence: str
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


class PaneListing(Listing, frozen=True, kw_only=True):
    """Panes, by id."""

    summary: PanesSummary
    items: tuple[PaneItem, ...]
    notes: tuple[str, ...] = ()
    """Where there are no panes at all: what may be the reason."""


async def run(world: World, wanted: ListPanes) -> PaneListing:
    given = filters(session=wanted.session, target=wanted.target, pane=wanted.pane, gone=wanted.gone)
    panes = await chosen(world, given, gone=wanted.gone)
    now = world.clock.now()
    summary = PanesSummary(
        panes=len(panes),
        by_activity=counts(pane.activity.kind for pane in panes),
        by_target=counts(pane.instance.server.target for pane in panes),
        gaps=sum(pane.gaps for pane in panes),
    )
    items = tuple(item(pane, now) for pane in panes)
    notes = () if items or given else await _reasons(world)
    return PaneListing(generated_at=iso(now), filters=given, summary=summary, items=items, notes=notes)


async def _reasons(world: World) -> tuple[str, ...]:
    """Why nothing may be there to be listed."""
    health = await world.upkeep.health()
    silent = [f"No tmux server answers on {server.socket}" for server in health.servers if not server.mux_ok]
    return (*health.alerts, *silent)


def item(pane: PaneView, now: int) -> PaneItem:
    facts = pane.facts
    return PaneItem(
        identity=identity(pane),
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
        presence="unmanaged",
        activity=_activity(pane.activity),
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


def _activity(activity: Activity) -> ActivityItem:
    return ActivityItem(
        kind=activity.kind,
        since=instant(activity.since),
        command_line=activity.command_line,
        last_exit=activity.last_exit,
        is_proven=activity.is_proven,
    )


def doing(pane: PaneItem) -> str:
    """A few words on what a pane is doing: `prompt (1)`, `$ make test`, `alt screen`, `ended`."""
    activity = pane.activity
    if pane.gone_at is not None:
        return "ended"
    if pane.is_dead:
        return f"dead ({'signal ' + str(pane.exit_signal) if pane.exit_signal else pane.exit_status})"
    if activity.kind == "command":
        return f"$ {activity.command_line}" if activity.command_line else "command"
    if activity.kind == "prompt" and activity.last_exit:
        return f"prompt ({activity.last_exit})"
    return activity.kind.replace("_", " ")


COLUMNS = (
    Column("ID", lambda pane: str(pane.identity.id), is_right=True, style="bold"),
    Column("SESSION", lambda pane: pane.identity.session_name, may_shrink=True, style="cyan"),
    Column("WINDOW", lambda pane: f"{pane.window_index}:{pane.window_name}", may_shrink=True),
    Column("PANE", lambda pane: pane.identity.pane_id),
    Column("COMMAND", lambda pane: pane.command, may_shrink=True),
    Column("CWD", lambda pane: pane.cwd, may_shrink=True, style="dim"),
    Column("TITLE", lambda pane: pane.title, may_shrink=True),
    Column("ACTIVITY", doing, may_shrink=True),
    Column("OUTPUT", lambda pane: age(pane.last_output_age), is_right=True),
    Column("BYTES", lambda pane: size(pane.bytes_heard), is_right=True),
    Column("RATE", lambda pane: f"{size(pane.bytes_per_second)}/s", is_right=True),
    Column("GAPS", lambda pane: str(pane.gaps or "-"), is_right=True, style="yellow"),
)


def plain(listing: PaneListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    summary = listing.summary
    told = f"{counted(summary.panes, 'pane')}, {counted(summary.gaps, 'gap')}"
    return f"{rows}\n\n{told}" if listing.items else f"No panes. {_notes(listing, look)}{_DEMO}"


_DEMO = "`visor demo` starts some to try things on."


def _notes(listing: PaneListing, look: Look) -> str:
    return "".join(look.paint("yellow", f"{clean(note)}.") + " " for note in listing.notes)


OP = Op(
    name="list_panes",
    aliases=("panes",),
    robot="state",
    summary="All panes: where they are, what they do, what was heard.",
    doc="""Lists the panes of every watched multiplexer server by our own number, which is never reused and is the
shortest reference to a pane. `activity` comes from shell marks and the stream, never from text that looks like a
prompt; what is not known is `unknown`.""",
    Input=ListPanes,
    Output=PaneListing,
    run=run,
    plain=plain,
    examples=(
        Example("list-panes", "all panes"),
        Example("list-panes --session work", "the panes of one session"),
        Example("robot state --pane 7", "one pane, as JSON"),
    ),
)
