"""The op `list_sessions`: the sessions that hold panes, with totals."""

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.pane import PaneView
from termvisor.ops.base import Example, Op
from termvisor.ops.list_windows import rollup
from termvisor.ops.listing import (
    Listing,
    PaneFilter,
    SessionFilter,
    SessionIdentity,
    TargetFilter,
    age_of,
    chosen,
    counts,
    filters,
    instant,
    latest,
)
from termvisor.ops.look import Column, Look, age, counted, table
from termvisor.ops.world import World


class ListSessions(Struct, frozen=True, kw_only=True):
    """Which sessions to list."""

    session: SessionFilter = None
    target: TargetFilter = None
    pane: PaneFilter = None


class SessionItem(Struct, frozen=True, kw_only=True):
    identity: SessionIdentity
    server: str
    attached: int
    windows: int
    panes: tuple[int, ...]
    by_activity: dict[str, int]
    last_output_at: str | None
    last_output_age: float | None
    gaps: int


class SessionsSummary(Struct, frozen=True, kw_only=True):
    sessions: int
    windows: int
    panes: int
    by_target: dict[str, int]


class SessionListing(Listing, frozen=True, kw_only=True):
    """Sessions, by server and name."""

    summary: SessionsSummary
    items: tuple[SessionItem, ...]


async def run(world: World, wanted: ListSessions) -> SessionListing:
    given = filters(session=wanted.session, target=wanted.target, pane=wanted.pane)
    panes = sorted((pane for pane in await chosen(world, given) if pane.gone_at is None), key=_place)
    now = world.clock.now()
    items = tuple(_item(list(group), now) for _, group in groupby(panes, key=_place))
    summary = SessionsSummary(
        sessions=len(items),
        windows=sum(item.windows for item in items),
        panes=len(panes),
        by_target=counts(item.identity.target for item in items),
    )
    return SessionListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _place(pane: PaneView) -> tuple[str, str, str]:
    return pane.instance.server.target, pane.instance.server.socket, pane.facts.session_name


def _item(panes: Sequence[PaneView], now: int) -> SessionItem:
    server, facts = panes[0].instance.server, panes[0].facts
    newest = latest(panes)
    return SessionItem(
        identity=SessionIdentity(target=server.target, session_name=facts.session_name),
        server=server.socket,
        attached=facts.session_attached,
        windows=len({pane.facts.window_id for pane in panes}),
        panes=tuple(pane.id for pane in panes),
        by_activity=counts(pane.activity.kind for pane in panes),
        last_output_at=instant(newest),
        last_output_age=age_of(newest, now),
        gaps=sum(pane.gaps for pane in panes),
    )


COLUMNS = (
    Column("SESSION", lambda item: item.identity.session_name, may_shrink=True, style="cyan"),
    Column("TARGET", lambda item: item.identity.target, may_shrink=True),
    Column("ATTACHED", lambda item: str(item.attached or "-"), is_right=True),
    Column("WINDOWS", lambda item: str(item.windows), is_right=True),
    Column("PANES", lambda item: str(len(item.panes)), is_right=True),
    Column("ACTIVITY", lambda item: rollup(item.by_activity), may_shrink=True),
    Column("OUTPUT", lambda item: age(item.last_output_age), is_right=True),
    Column("GAPS", lambda item: str(item.gaps or "-"), is_right=True, style="yellow"),
)


def plain(listing: SessionListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    told = f"{counted(listing.summary.sessions, 'session')}, {counted(listing.summary.panes, 'pane')}"
    return f"{rows}\n\n{told}" if listing.items else "No sessions."


OP = Op(
    name="list_sessions",
    aliases=("sessions",),
    summary="All sessions, with totals.",
    doc="`attached` counts the people looking at the session, as the multiplexer tells it.",
    Input=ListSessions,
    Output=SessionListing,
    run=run,
    plain=plain,
    examples=(Example("list-sessions", "all sessions"), Example("sessions --target local", "those of one target")),
)
