"""The op `list_sessions`: the sessions that hold panes, with totals."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes import _rollup as rollup
from termvisor.ops.panes._listing import Listing, SessionIdentity, counts, none
from termvisor.ops.render.text import Column, Look, counted, table


class ListSessions(rollup.Places, frozen=True, kw_only=True):
    """Which sessions to list."""

    group_by: Annotated[
        rollup.SessionGrouping, Meta(description="What is one session: that of one server, or all of one name.")
    ] = "target-session"
    agent_summary: Annotated[bool, Meta(description="With the states of each kind of agent.")] = False


class SessionItem(rollup.PlaceRow, frozen=True, kw_only=True):
    """``agent_states`` are there with `--agent-summary`. Sessions that were merged by name may have several targets:
    then ``identity.target`` is empty.
    """

    identity: SessionIdentity
    attached: int
    windows: int
    by_target: dict[str, int]
    agent_states: dict[str, dict[str, int]]


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
    given = crew.given(wanted, pane=wanted.pane)
    groups = await rollup.gathered(world, given, rollup.GROUPINGS[wanted.group_by])
    now = world.clock.now()
    items = tuple(_item(members, now, has_states=wanted.agent_summary) for members in groups)
    panes = [one.pane for members in groups for one in members]
    summary = SessionsSummary(
        sessions=len(items),
        windows=sum(item.windows for item in items),
        panes=len(panes),
        by_target=counts(target for item in items for target in item.by_target),
    )
    return SessionListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _item(members: Sequence[crew.Member], now: int, *, has_states: bool) -> SessionItem:
    panes = [one.pane for one in members]
    by_target = counts(pane.instance.server.target for pane in panes)
    servers = {pane.instance.server: pane.facts.session_attached for pane in panes}
    target = next(iter(by_target)) if len(by_target) == 1 else ""
    return SessionItem(
        identity=SessionIdentity(target=target, session_name=panes[0].facts.session_name),
        attached=sum(servers.values()),
        windows=len({(pane.instance.server, pane.facts.window_id) for pane in panes}),
        by_target=by_target,
        agent_states=_states(members) if has_states else {},
        **rollup.place_fields(members, now),
    )


def _states(members: Sequence[crew.Member]) -> dict[str, dict[str, int]]:
    groups = rollup.together([one for one in members if one.view is not None], rollup.GROUPINGS["agent"])
    return {state.agent: rollup.summed(group)["by_state"] for group in groups for state in crew.agents_of(group[:1])}


COLUMNS = (
    Column("SESSION", lambda item: item.identity.session_name, may_shrink=True, style="cyan"),
    Column("TARGET", lambda item: item.identity.target or rollup.told_names(item.by_target), may_shrink=True),
    Column("ATTACHED", lambda item: str(item.attached or "-"), is_right=True),
    Column("WINDOWS", lambda item: str(item.windows), is_right=True),
    Column("PANES", lambda item: str(len(item.panes)), is_right=True),
)


def _each(item: SessionItem) -> str:
    """`claude_code: 1 waiting approval, 2 running; codex: 1 idle`."""
    return "; ".join(f"{agent}: {rollup.told(states)}" for agent, states in item.agent_states.items()) or "-"


_WHO = Column("AGENTS", _each, may_shrink=True, narrowest=30)


def plain(listing: SessionListing, look: Look) -> str:
    who = _WHO if any(item.agent_states for item in listing.items) else rollup.AGENTS
    rows = table(rollup.columns(COLUMNS, listing.items, who), listing.items, look)
    if look.is_quiet:
        return rows
    told = f"{counted(listing.summary.sessions, 'session')}, {counted(listing.summary.panes, 'pane')}"
    return f"{rows}\n\n{told}" if listing.items else none("session", listing)


OP = Op(
    name="list_sessions",
    aliases=("sessions",),
    summary="All sessions, with totals.",
    doc="""`attached` counts the people looking at the session, as the multiplexer tells it. `top_state` is the state
that matters most among its agents. Sessions of one name on two servers are two, unless `--group-by session-name` merges
them.""",
    Input=ListSessions,
    Output=SessionListing,
    run=run,
    plain=plain,
    examples=(
        Example("list-sessions", "all sessions"),
        Example("sessions --target local", "those of one target"),
        Example("list sessions --agent-summary", "with the states of each kind of agent"),
        Example("sessions --group-by session-name", "those of one name on all servers as one"),
    ),
)
