"""The op `list_windows`: the windows that hold panes, each with a rollup of its panes."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.agents._agent_row import AgentRow, row, spoken
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes import _rollup as rollup
from termvisor.ops.panes._listing import Listing, WindowIdentity, counts, none
from termvisor.ops.render.text import Column, Look, counted, table


class ListWindows(rollup.Places, frozen=True, kw_only=True):
    """Which windows to list."""

    with_agent_status: Annotated[bool, Meta(description="With a row for each agent in them.")] = False


class WindowItem(rollup.PlaceRow, frozen=True, kw_only=True):
    """``agent_rows`` are there with `--with-agent-status`."""

    identity: WindowIdentity
    index: int
    name: str
    agent_rows: tuple[AgentRow, ...] = ()


class WindowsSummary(Struct, frozen=True, kw_only=True):
    windows: int
    panes: int
    by_target: dict[str, int]


class WindowListing(Listing, frozen=True, kw_only=True):
    """Windows, by server, session and index."""

    summary: WindowsSummary
    items: tuple[WindowItem, ...]


async def run(world: World, wanted: ListWindows) -> WindowListing:
    given = crew.given(wanted, pane=wanted.pane)
    groups = await rollup.gathered(world, given, rollup.by_window)
    now = world.clock.now()
    items = tuple(_item(members, now, has_rows=wanted.with_agent_status) for members in groups)
    summary = WindowsSummary(
        windows=len(items), panes=sum(map(len, groups)), by_target=counts(item.identity.target for item in items)
    )
    return WindowListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _item(members: Sequence[crew.Member], now: int, *, has_rows: bool) -> WindowItem:
    pane = members[0].pane
    target, facts = pane.instance.server.target, pane.facts
    rows = (row(one.pane, one.view, now) for one in members if one.view is not None and has_rows)
    return WindowItem(
        identity=WindowIdentity(target=target, session_name=facts.session_name, window_id=facts.window_id),
        index=facts.window_index,
        name=facts.window_name,
        agent_rows=tuple(rows),
        **rollup.place_fields(members, now),
    )


COLUMNS = (
    Column("SESSION", lambda item: item.identity.session_name, may_shrink=True, style="cyan"),
    Column("WINDOW", lambda item: f"{item.index}:{item.name}", may_shrink=True),
    Column("ID", lambda item: item.identity.window_id),
    Column("PANES", lambda item: " ".join(map(str, item.panes)), may_shrink=True),
)


def _each(item: WindowItem) -> str:
    """`2 claude_code waiting approval, 3 codex running`."""
    told = (f"{one.identity.id} {one.agent} {spoken(one.state, one.reason)}" for one in item.agent_rows)
    return ", ".join(told) or "-"


_WHO = Column("AGENTS", _each, may_shrink=True, narrowest=30)


def plain(listing: WindowListing, look: Look) -> str:
    who = _WHO if any(item.agent_rows for item in listing.items) else rollup.AGENTS
    rows = table(rollup.columns(COLUMNS, listing.items, who), listing.items, look)
    if look.is_quiet:
        return rows
    told = f"{counted(listing.summary.windows, 'window')}, {counted(listing.summary.panes, 'pane')}"
    return f"{rows}\n\n{told}" if listing.items else none("window", listing)


OP = Op(
    name="list_windows",
    aliases=("windows",),
    summary="All windows, each with what its panes are doing.",
    doc="""A window is listed under each session that shows it; `panes` are our pane numbers. `top_state` is the state
that matters most among its agents, beside how many wait and how many run.""",
    Input=ListWindows,
    Output=WindowListing,
    run=run,
    plain=plain,
    examples=(
        Example("list-windows", "all windows"),
        Example("windows --session work", "those of one session"),
        Example("list windows --with-agent-status", "with every agent in them"),
    ),
)
