"""The op `list_windows`: the windows that hold panes, each with a rollup of its panes."""

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.pane import PaneView
from termvisor.ops.base import Example, Op
from termvisor.ops.listing import (
    Listing,
    PaneFilter,
    SessionFilter,
    TargetFilter,
    WindowIdentity,
    age_of,
    chosen,
    counts,
    filters,
    instant,
    latest,
)
from termvisor.ops.look import Column, Look, age, counted, table
from termvisor.ops.world import World


class ListWindows(Struct, frozen=True, kw_only=True):
    """Which windows to list."""

    session: SessionFilter = None
    target: TargetFilter = None
    pane: PaneFilter = None


class WindowItem(Struct, frozen=True, kw_only=True):
    identity: WindowIdentity
    server: str
    index: int
    name: str
    panes: tuple[int, ...]
    by_activity: dict[str, int]
    last_output_at: str | None
    last_output_age: float | None
    gaps: int


class WindowsSummary(Struct, frozen=True, kw_only=True):
    windows: int
    panes: int
    by_target: dict[str, int]


class WindowListing(Listing, frozen=True, kw_only=True):
    """Windows, by server, session and index."""

    summary: WindowsSummary
    items: tuple[WindowItem, ...]


async def run(world: World, wanted: ListWindows) -> WindowListing:
    given = filters(session=wanted.session, target=wanted.target, pane=wanted.pane)
    panes = sorted((pane for pane in await chosen(world, given) if pane.gone_at is None), key=_place)
    now = world.clock.now()
    items = tuple(_item(list(group), now) for _, group in groupby(panes, key=_place))
    summary = WindowsSummary(
        windows=len(items), panes=len(panes), by_target=counts(item.identity.target for item in items)
    )
    return WindowListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _place(pane: PaneView) -> tuple[str, str, str, int, str]:
    server, facts = pane.instance.server, pane.facts
    return server.target, server.socket, facts.session_name, facts.window_index, facts.window_id


def _item(panes: Sequence[PaneView], now: int) -> WindowItem:
    server, facts = panes[0].instance.server, panes[0].facts
    newest = latest(panes)
    return WindowItem(
        identity=WindowIdentity(target=server.target, session_name=facts.session_name, window_id=facts.window_id),
        server=server.socket,
        index=facts.window_index,
        name=facts.window_name,
        panes=tuple(pane.id for pane in panes),
        by_activity=counts(pane.activity.kind for pane in panes),
        last_output_at=instant(newest),
        last_output_age=age_of(newest, now),
        gaps=sum(pane.gaps for pane in panes),
    )


COLUMNS = (
    Column("SESSION", lambda item: item.identity.session_name, may_shrink=True, style="cyan"),
    Column("WINDOW", lambda item: f"{item.index}:{item.name}", may_shrink=True),
    Column("ID", lambda item: item.identity.window_id),
    Column("PANES", lambda item: " ".join(map(str, item.panes)), may_shrink=True),
    Column("ACTIVITY", lambda item: rollup(item.by_activity), may_shrink=True),
    Column("OUTPUT", lambda item: age(item.last_output_age), is_right=True),
    Column("GAPS", lambda item: str(item.gaps or "-"), is_right=True, style="yellow"),
)


def rollup(by_activity: dict[str, int]) -> str:
    """`2 command, 1 prompt`."""
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in by_activity.items())


def plain(listing: WindowListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    told = f"{counted(listing.summary.windows, 'window')}, {counted(listing.summary.panes, 'pane')}"
    return f"{rows}\n\n{told}" if listing.items else "No windows."


OP = Op(
    name="list_windows",
    aliases=("windows",),
    summary="All windows, each with what its panes are doing.",
    doc="A window is listed under each session that shows it; `panes` are our pane numbers.",
    Input=ListWindows,
    Output=WindowListing,
    run=run,
    plain=plain,
    examples=(Example("list-windows", "all windows"), Example("windows --session work", "those of one session")),
)
