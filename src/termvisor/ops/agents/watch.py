"""The op `watch`: what agents do, pushed as it changes; first how it is now.

What changed is read from the stored events by cursor, so a slow listener misses nothing and a new one goes on where the
last one was.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.state import PRECEDENCE, StateName
from termvisor.model.event import Event, Scalar
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import STATE_STYLES, AgentRow, build_agent_row, format_state, format_state_cell
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events import watch_events
from termvisor.ops.events.watch_events import WatchEventsArgs, read_event_pages
from termvisor.ops.panes import _rollup
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize

WatchScope = Literal["panes", "windows", "sessions"]
WatchItemKind = Literal["state", "state_changed", "agent_began", "agent_ended", "summary_changed"]
_REPORTED_EVENTS: dict[str, WatchItemKind] = {
    "state_changed": "state_changed",
    "agent_began": "agent_began",
    "agent_ended": "agent_ended",
}
"""The stored events that are told."""
_SCOPE_GROUPINGS: dict[WatchScope, _rollup.Grouping] = {"windows": "window", "sessions": "target-session"}
ALL_PLACES = ""
"""The place of everybody."""


class WatchArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """What to watch, and from where on."""

    scope: Annotated[WatchScope, Meta(description="Tell each agent, or only what windows or sessions come to.")] = (
        "panes"
    )
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

    kind: WatchItemKind
    at: str
    cursor: str
    pane: int | None = None
    name: str = ""
    agent: AgentRow | None = None
    before: StateName | None = None
    after: StateName | None = None
    place: str = ALL_PLACES
    summary: _rollup.AgentTotals | None = None


async def run(services: Services, args: WatchArgs) -> AsyncIterator[WatchItem]:
    telling, cursor = _ChangeReporter(services, args), args.since_cursor
    if cursor is None:
        cursor = str(await watch_events.find_start_cursor(services))  # first: what changes meanwhile lies beyond it
        for item in await telling.build_initial_items(cursor):
            yield item
        if args.once:
            return
    async with aclosing(
        read_event_pages(services, WatchEventsArgs(since_cursor=cursor, once=args.once), None)
    ) as found:
        async for events in found:
            for item in await telling.build_change_items(events):
                yield item
            if args.interval:
                await services.clock.sleep(args.interval)


class _ChangeReporter:
    """Remembers what was told of each place, so that only what changed is told."""

    def __init__(self, services: Services, args: WatchArgs):
        self._services, self._scope = services, args.scope
        self._active_filters = _pane_agents.collect_agent_filters(args)
        self._allowed_states = None if args.state is None else _pane_agents.parse_state_filter(args.state)
        self._last_sums: dict[str, _rollup.AgentTotals] = {}

    async def build_initial_items(self, cursor: str) -> list[WatchItem]:
        members, now = (
            await _pane_agents.select_panes_with_agents(self._services, self._active_filters),
            self._services.clock.now(),
        )
        rows = [
            build_agent_row(one.pane, one.view, now)
            for one in members
            if one.view is not None and self._scope == "panes"
        ]
        states = [_build_state_item(one, format_timestamp(now), cursor) for one in rows]
        return [*states, *self._build_summary_items(members, format_timestamp(now), cursor)]

    async def build_change_items(self, events: list[Event]) -> list[WatchItem]:
        ours = [event for event in events if event.kind in _REPORTED_EVENTS]
        if not ours:
            return []
        told = (
            [item for event in ours if (item := await self._build_change_item(event))] if self._scope == "panes" else []
        )
        members = await _pane_agents.select_panes_with_agents(self._services, self._active_filters)
        return [*told, *self._build_summary_items(members, format_timestamp(ours[-1].at), str(ours[-1].id))]

    async def _build_change_item(self, event: Event) -> WatchItem | None:
        pane = None if event.pane is None else await self._services.panes.find_pane(event.pane)
        after = _parse_state_name(event.data.get("after"))
        if pane is None or not self._matches_filters(event, after):
            return None
        place = {"session": pane.facts.session_name, "target": pane.instance.server.target}
        if any(self._active_filters.get(name, here) != here for name, here in place.items()):
            return None
        view, now = (await self._services.agents.list_views(pane.id)).get(pane.id), self._services.clock.now()
        if "needs_action" in self._active_filters and (view is None or not view.needs_action):
            return None
        return WatchItem(
            kind=_REPORTED_EVENTS[event.kind],
            at=format_timestamp(event.at),
            cursor=str(event.id),
            pane=pane.id,
            name=str(event.data.get("agent", "")),
            agent=None if view is None else build_agent_row(pane, view, now),
            before=_parse_state_name(event.data.get("before")),
            after=after,
        )

    def _matches_filters(self, event: Event, after: StateName | None) -> bool:
        is_agent = self._active_filters.get("agent", event.data.get("agent")) == event.data.get("agent")
        return is_agent and (self._allowed_states is None or after in self._allowed_states)

    def _build_summary_items(self, members: list[_pane_agents.PaneWithAgent], at: str, cursor: str) -> list[WatchItem]:
        sums = self._sum_by_place(members)
        nothing = _rollup.AgentTotals(**_rollup.sum_agents([]))
        changed = {
            place: sums.get(place, nothing)
            for place in sorted({*sums, *self._last_sums})
            if sums.get(place) != self._last_sums.get(place)
        }
        self._last_sums = sums
        return [
            WatchItem(kind="summary_changed", at=at, cursor=cursor, place=place, summary=summary)
            for place, summary in changed.items()
        ]

    def _sum_by_place(self, members: list[_pane_agents.PaneWithAgent]) -> dict[str, _rollup.AgentTotals]:
        grouping = _SCOPE_GROUPINGS.get(self._scope)
        manned = [one for one in members if one.view is not None]
        groups = (
            {}
            if grouping is None
            else {
                _rollup.format_group_name(some[0], grouping): some
                for some in _rollup.group_members(manned, _rollup.GROUP_KEY_FUNCTIONS[grouping])
            }
        )
        return {
            place: _rollup.AgentTotals(**_rollup.sum_agents(some))
            for place, some in ({ALL_PLACES: manned} | groups).items()
        }


def _build_state_item(agent_row: AgentRow, at: str, cursor: str) -> WatchItem:
    who, pane = agent_row.agent or "", agent_row.identity.id
    return WatchItem(kind="state", at=at, cursor=cursor, pane=pane, name=who, agent=agent_row, after=agent_row.state)


def _parse_state_name(value: Scalar) -> StateName | None:
    return next((state for state in PRECEDENCE if state == value), None)


def render_text(result: WatchItem, options: RenderOptions) -> str:
    time = options.paint("dim", result.at[11:19])
    if result.summary is not None:
        told = f"{pluralize(result.summary.agents, 'agent')}: {_rollup.format_counts(result.summary.by_state) or '-'}"
        return f"{time}  {options.paint('dim', sanitize(f'{result.place} {told}').strip())}"
    return f"{time}  {result.pane:>4}  {_format_change(result, options)}"


def _format_change(item: WatchItem, options: RenderOptions) -> str:
    agent, who = item.agent, sanitize(item.name)
    if item.kind == "agent_ended":
        return f"{who} ended"
    title = options.paint("dim", sanitize(agent.agent_title)) if agent is not None else ""
    if item.kind == "agent_began":
        return f"{who} began  {title}".rstrip()
    before = f"{format_state(item.before)} → " if item.before is not None else ""
    state = format_state_cell(agent) if agent is not None and agent.state == item.after else format_state(item.after)
    style = STATE_STYLES[item.after] if item.after is not None else ""
    return f"{who}  {before}{options.paint(style, sanitize(state))}  {title}".rstrip()


OP = Operation(
    name="watch",
    robot_name="watch",
    summary="What agents do, as it changes: a line a change, pushed.",
    doc="""A stream that begins with how it is now and goes on with every change as it is stored; nothing is polled. In
JSON (`--format jsonl`) each line is one object: `state`, `state_changed`, `agent_began`, `agent_ended` and
`summary_changed`. Each carries its `cursor`: after a break, begin again with `--since-cursor` and no change is lost.
With `--scope windows` or `sessions` only the sums of those are told. Times are UTC.""",
    args_type=WatchArgs,
    result_type=WatchItem,
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("watch", "every agent, from now on"),
        OperationExample("watch --needs-action", "only those that need you"),
        OperationExample("watch --scope sessions --format jsonl", "what sessions come to, one JSON object a line"),
        OperationExample("robot watch --since-cursor 120", "what changed after event 120, and on"),
    ),
)
