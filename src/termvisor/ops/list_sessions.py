"""The op `list_sessions`: the sessions that hold panes, with totals."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.pane import PaneView
from termvisor.ops import rollup
from termvisor.ops.base import Example, Op
from termvisor.ops.listing import Listing, SessionIdentity, counts
from termvisor.ops.look import Column, Look, counted, table
from termvisor.ops.world import World


class ListSessions(rollup.Places, frozen=True, kw_only=True):
    """Which sessions to list."""


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
    given, groups = await rollup.gathered(world, wanted, _place)
    now = world.clock.now()
    items = tuple(_item(panes, now) for panes in groups)
    summary = SessionsSummary(
        sessions=len(items),
        windows=sum(item.windows for item in items),
        panes=sum(map(len, groups)),
        by_target=counts(item.identity.target for item in items),
    )
    return SessionListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _place(pane: PaneView) -> rollup.Place:
    return pane.instance.server.target, pane.instance.server.socket, pane.facts.session_name


def _item(panes: Sequence[PaneView], now: int) -> SessionItem:
    target, facts = panes[0].instance.server.target, panes[0].facts
    return SessionItem(
        identity=SessionIdentity(target=target, session_name=facts.session_name),
        attached=facts.session_attached,
        windows=len({pane.facts.window_id for pane in panes}),
        **rollup.summed(panes, now),
    )


COLUMNS = (
    Column("SESSION", lambda item: item.identity.session_name, may_shrink=True, style="cyan"),
    Column("TARGET", lambda item: item.identity.target, may_shrink=True),
    Column("ATTACHED", lambda item: str(item.attached or "-"), is_right=True),
    Column("WINDOWS", lambda item: str(item.windows), is_right=True),
    Column("PANES", lambda item: str(len(item.panes)), is_right=True),
    *rollup.COLUMNS,
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
