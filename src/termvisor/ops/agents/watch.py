"""The op `watch`: what agents do, pushed as it changes; first how it is now.

What changed is read from the stored events by cursor, so a slow listener misses nothing and a new one goes on where the
last one was.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.agent.state import PRECEDENCE, StateName
from termvisor.model.event import Event, Scalar
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.agents._agent_row import STYLES, AgentRow, row, spoken, state_cell
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.events import watch_events
from termvisor.ops.events.watch_events import WatchEvents, pages
from termvisor.ops.panes import _rollup as rollup
from termvisor.ops.render.text import Look, clean, counted

Scope = Literal["panes", "windows", "sessions"]
Kind = Literal["state", "state_changed", "agent_began", "agent_ended", "summary_changed"]
_TOLD: dict[str, Kind] = {
    "state_changed": "state_changed",
    "agent_began": "agent_began",
    "agent_ended": "agent_ended",
}
"""The stored events that are told."""
_PLACES: dict[Scope, rollup.Grouping] = {"windows": "window", "sessions": "target-session"}
ALL = ""
"""The place of everybody."""


class Watch(crew.Chosen, frozen=True, kw_only=True):
    """What to watch, and from where on."""

    scope: Annotated[Scope, Meta(description="Tell each agent, or only what windows or sessions come to.")] = "panes"
    since_cursor: Annotated[
        str | None,
        Meta(
            description="Begin after this cursor; without it, with how it is now.",
            extra={"also": ("--since", "--cursor")},
        ),
    ] = None
    once: Annotated[bool, Meta(description="Tell what is there, then stop.")] = False
    interval: Annotated[
        float, Meta(description="Seconds between two pieces at least; nothing is left out.", ge=0, le=3600)
    ] = 0.0


class WatchItem(Struct, frozen=True, kw_only=True):
    """One line. `state`: how an agent is at the start. `state_changed`, `agent_began`, `agent_ended`: what was stored,
    beside ``agent`` as it is by now; that is null once it is gone, and only its ``name`` is left. `summary_changed`:
    what all of them, or those of one ``place``, come to. ``cursor`` is where to go on.
    """

    kind: Kind
    at: str
    cursor: str
    pane: int | None = None
    name: str = ""
    agent: AgentRow | None = None
    before: StateName | None = None
    after: StateName | None = None
    place: str = ALL
    summary: rollup.Summed | None = None


async def run(world: World, wanted: Watch) -> AsyncIterator[WatchItem]:
    telling, cursor = _Telling(world, wanted), wanted.since_cursor
    if cursor is None:
        cursor = str(await watch_events.start(world))  # first: what changes meanwhile lies beyond it
        for item in await telling.beginning(cursor):
            yield item
        if wanted.once:
            return
    async with aclosing(pages(world, WatchEvents(since_cursor=cursor, once=wanted.once), None)) as found:
        async for events in found:
            for item in await telling.changes(events):
                yield item
            if wanted.interval:
                await world.clock.sleep(wanted.interval)


class _Telling:
    """Remembers what was told of each place, so that only what changed is told."""

    def __init__(self, world: World, wanted: Watch):
        self._world, self._scope = world, wanted.scope
        self._asked = crew.given(wanted)
        self._states = None if wanted.state is None else crew.states(wanted.state)
        self._sums: dict[str, rollup.Summed] = {}

    async def beginning(self, cursor: str) -> list[WatchItem]:
        members, now = await crew.crew(self._world, self._asked), self._world.clock.now()
        rows = [row(one.pane, one.view, now) for one in members if one.view is not None and self._scope == "panes"]
        states = [_state(one, iso(now), cursor) for one in rows]
        return [*states, *self._changed_sums(members, iso(now), cursor)]

    async def changes(self, events: list[Event]) -> list[WatchItem]:
        ours = [event for event in events if event.kind in _TOLD]
        if not ours:
            return []
        told = [item for event in ours if (item := await self._change(event))] if self._scope == "panes" else []
        members = await crew.crew(self._world, self._asked)
        return [*told, *self._changed_sums(members, iso(ours[-1].at), str(ours[-1].id))]

    async def _change(self, event: Event) -> WatchItem | None:
        pane = None if event.pane is None else await self._world.fleet.pane(event.pane)
        after = _name(event.data.get("after"))
        if pane is None or not self._is_asked_for(event, after):
            return None
        place = {"session": pane.facts.session_name, "target": pane.instance.server.target}
        if any(self._asked.get(name, here) != here for name, here in place.items()):
            return None
        view, now = (await self._world.agents.views(pane.id)).get(pane.id), self._world.clock.now()
        if "needs_action" in self._asked and (view is None or not view.needs_action):
            return None
        return WatchItem(
            kind=_TOLD[event.kind],
            at=iso(event.at),
            cursor=str(event.id),
            pane=pane.id,
            name=str(event.data.get("agent", "")),
            agent=None if view is None else row(pane, view, now),
            before=_name(event.data.get("before")),
            after=after,
        )

    def _is_asked_for(self, event: Event, after: StateName | None) -> bool:
        is_agent = self._asked.get("agent", event.data.get("agent")) == event.data.get("agent")
        return is_agent and (self._states is None or after in self._states)

    def _changed_sums(self, members: list[crew.Member], at: str, cursor: str) -> list[WatchItem]:
        sums = self._summed(members)
        nothing = rollup.Summed(**rollup.summed([]))
        changed = {
            place: sums.get(place, nothing)
            for place in sorted({*sums, *self._sums})
            if sums.get(place) != self._sums.get(place)
        }
        self._sums = sums
        return [
            WatchItem(kind="summary_changed", at=at, cursor=cursor, place=place, summary=summary)
            for place, summary in changed.items()
        ]

    def _summed(self, members: list[crew.Member]) -> dict[str, rollup.Summed]:
        grouping = _PLACES.get(self._scope)
        manned = [one for one in members if one.view is not None]
        groups = (
            {}
            if grouping is None
            else {rollup.named(some[0], grouping): some for some in rollup.together(manned, rollup.GROUPINGS[grouping])}
        )
        return {place: rollup.Summed(**rollup.summed(some)) for place, some in ({ALL: manned} | groups).items()}


def _state(told: AgentRow, at: str, cursor: str) -> WatchItem:
    who, pane = told.agent or "", told.identity.id
    return WatchItem(kind="state", at=at, cursor=cursor, pane=pane, name=who, agent=told, after=told.state)


def _name(value: Scalar) -> StateName | None:
    return next((state for state in PRECEDENCE if state == value), None)


def plain(item: WatchItem, look: Look) -> str:
    time = look.paint("dim", item.at[11:19])
    if item.summary is not None:
        told = f"{counted(item.summary.agents, 'agent')}: {rollup.told(item.summary.by_state) or '-'}"
        return f"{time}  {look.paint('dim', clean(f'{item.place} {told}').strip())}"
    return f"{time}  {item.pane:>4}  {_words(item, look)}"


def _words(item: WatchItem, look: Look) -> str:
    agent, who = item.agent, clean(item.name)
    if item.kind == "agent_ended":
        return f"{who} ended"
    title = look.paint("dim", clean(agent.agent_title)) if agent is not None else ""
    if item.kind == "agent_began":
        return f"{who} began  {title}".rstrip()
    before = f"{spoken(item.before)} → " if item.before is not None else ""
    state = state_cell(agent) if agent is not None and agent.state == item.after else spoken(item.after)
    style = STYLES[item.after] if item.after is not None else ""
    return f"{who}  {before}{look.paint(style, clean(state))}  {title}".rstrip()


OP = Op(
    name="watch",
    robot="watch",
    summary="What agents do, as it changes: a line a change, pushed.",
    doc="""A stream that begins with how it is now and goes on with every change as it is stored; nothing is polled. In
JSON (`--format jsonl`) each line is one object: `state`, `state_changed`, `agent_began`, `agent_ended` and
`summary_changed`. Each carries its `cursor`: after a break, begin again with `--since-cursor` and no change is lost.
With `--scope windows` or `sessions` only the sums of those are told. Times are UTC.""",
    Input=Watch,
    Output=WatchItem,
    run=run,
    plain=plain,
    is_stream=True,
    is_live=True,
    examples=(
        Example("watch", "every agent, from now on"),
        Example("watch --needs-action", "only those that need you"),
        Example("watch --scope sessions --format jsonl", "what sessions come to, one JSON object a line"),
        Example("robot watch --since-cursor 120", "what changed after event 120, and on"),
    ),
)
