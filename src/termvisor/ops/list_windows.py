"""The op `list_windows`: the windows that hold panes, each with a rollup of its panes."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.pane import PaneView
from termvisor.ops import rollup
from termvisor.ops.base import Example, Op
from termvisor.ops.listing import Listing, WindowIdentity, counts
from termvisor.ops.look import Column, Look, counted, table
from termvisor.ops.world import World


class ListWindows(rollup.Places, frozen=True, kw_only=True):
    """Which windows to list."""


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
    given, groups = await rollup.gathered(world, wanted, _place)
    now = world.clock.now()
    items = tuple(_item(panes, now) for panes in groups)
    summary = WindowsSummary(
        windows=len(items), panes=sum(map(len, groups)), by_target=counts(item.identity.target for item in items)
    )
    return WindowListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _place(pane: PaneView) -> rollup.Place:
    server, facts = pane.instance.server, pane.facts
    return server.target, server.socket, facts.session_name, facts.window_index, facts.window_id


def _item(panes: Sequence[PaneView], now: int) -> WindowItem:
    target, facts = panes[0].instance.server.target, panes[0].facts
    return WindowItem(
        identity=WindowIdentity(target=target, session_name=facts.session_name, window_id=facts.window_id),
        index=facts.window_index,
        name=facts.window_name,
        **rollup.summed(panes, now),
    )


COLUMNS = (
    Column("SESSION", lambda item: item.identity.session_name, may_shrink=True, style="cyan"),
    Column("WINDOW", lambda item: f"{item.index}:{item.name}", may_shrink=True),
    Column("ID", lambda item: item.identity.window_id),
    Column("PANES", lambda item: " ".join(map(str, item.panes)), may_shrink=True),
    *rollup.COLUMNS,
)


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
