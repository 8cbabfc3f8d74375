"""The operation `watch`: stream the current state of agents, then every change.

Changes are read from the stored events by cursor, so a slow client misses none, and a client can resume later.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp, parse_timestamp
from termvisor.model.agent.state import PRECEDENCE, StateName
from termvisor.model.event import Event, Scalar
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import STATE_STYLES, AgentRow, build_agent_row, format_state, format_state_cell
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events import watch_events
from termvisor.ops.events._event_item import find_cursor_at
from termvisor.ops.events.watch_events import WatchEventsArgs, read_event_pages
from termvisor.ops.panes import _rollup
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize

WatchScope = Literal["panes", "windows", "sessions"]
WatchItemKind = Literal["state", "state_changed", "agent_began", "agent_ended", "summary_changed"]
# Stored event kinds that are reported, with the item kind of each.
_REPORTED_EVENTS: dict[str, WatchItemKind] = {
    "state_changed": "state_changed",
    "agent_began": "agent_began",
    "agent_ended": "agent_ended",
}
_SCOPE_GROUPINGS: dict[WatchScope, _rollup.Grouping] = {"windows": "window", "sessions": "target-session"}
# Place of the totals over all agents.
ALL_PLACES = ""


class WatchArgs(_pane_agents.AgentFilterArgs, frozen=True, kw_only=True):
    """Choose agents, scope and start of the stream."""

    scope: Annotated[
        WatchScope, Meta(description="Report each agent (panes), or only the totals of windows or sessions.")
    ] = "panes"
    since_cursor: Annotated[
        str | None,
        Meta(
            description="Start after this cursor; default: start with the current state.",
            extra={"also": ("--cursor",)},
        ),
    ] = None
    since: Annotated[
        str | None,
        Meta(description="Start with the first change since this: ISO 8601, today, or an age such as 10m."),
    ] = None
    once: Annotated[bool, Meta(description="Print what is stored, then exit.")] = False
    interval: Annotated[
        float, Meta(description="Minimum seconds between two batches; no change is omitted.", ge=0, le=3600)
    ] = 0.0


class WatchItem(Struct, frozen=True, kw_only=True):
    """One line. `state`: an agent at the start of the stream. `state_changed`, `agent_began`, `agent_ended`: a stored
    event, with ``agent`` as it is now (null once it has ended; ``name`` stays). `summary_changed`: the totals of all
    agents or of one ``place``. ``cursor`` is where to resume.
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
    reporter, cursor = _ChangeReporter(services, args), args.since_cursor
    if args.agent is not None:
        await _pane_agents.check_agent_name(services, args.agent)
    if cursor is None and args.since is not None:
        cursor = await _resolve_start(services, args.since)
    if cursor is None:
        # Read before the state, so that a change in between is streamed as an event instead of being lost.
        cursor = str(await watch_events.find_start_cursor(services))
        for item in await reporter.build_initial_items(cursor):
            yield item
        if args.once:
            return
    event_args = WatchEventsArgs(since_cursor=cursor, once=args.once)
    async with aclosing(read_event_pages(services, event_args, None)) as pages:
        async for events in pages:
            for item in await reporter.build_change_items(events):
                yield item
            # Changes that happen in the meantime are stored, and the next page returns all of them.
            if args.interval:
                await services.clock.sleep(args.interval)


async def _resolve_start(services: Services, since: str) -> str:
    """Return the cursor at a time. A plain number is a cursor: `--since` once took only those."""
    if since.isascii() and since.isdecimal():
        return since
    return str(await find_cursor_at(services, parse_timestamp(since, services.clock.now())))


class _ChangeReporter:
    """Turns events into items; remembers the totals of each place to report only those that changed."""

    def __init__(self, services: Services, args: WatchArgs):
        self._services, self._scope = services, args.scope
        self._active_filters = _pane_agents.collect_agent_filters(args)
        self._allowed_states = None if args.state is None else _pane_agents.parse_state_filter(args.state)
        self._last_sums: dict[str, _rollup.AgentTotals] = {}

    async def build_initial_items(self, cursor: str) -> list[WatchItem]:
        # The cursor was read earlier, so a later change causes one more item instead of being lost.
        members = await _pane_agents.select_panes_with_agents(self._services, self._active_filters)
        now = self._services.clock.now()
        rows = [
            build_agent_row(member.pane, member.view, now)
            for member in members
            if member.view is not None and self._scope == "panes"
        ]
        states = [_build_state_item(row, format_timestamp(now), cursor) for row in rows]
        return [*states, *self._build_summary_items(members, format_timestamp(now), cursor)]

    async def build_change_items(self, events: list[Event]) -> list[WatchItem]:
        events = [event for event in events if event.kind in _REPORTED_EVENTS]
        if not events:
            return []
        changes = [await self._build_change_item(event) for event in events] if self._scope == "panes" else []
        members = await _pane_agents.select_panes_with_agents(self._services, self._active_filters)
        summaries = self._build_summary_items(members, format_timestamp(events[-1].at), str(events[-1].id))
        return [*(change for change in changes if change is not None), *summaries]

    async def _build_change_item(self, event: Event) -> WatchItem | None:
        pane = None if event.pane is None else await self._services.panes.find_pane(event.pane)
        after = _parse_state_name(event.data.get("after"))
        # Retention may have deleted the pane of an old event.
        if pane is None or not self._matches_filters(event, after):
            return None
        place = {"session": pane.facts.session_name, "target": pane.instance.server.target}
        if any(self._active_filters.get(name, value) != value for name, value in place.items()):
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
        # A place whose last agent ended is reported once more, with zeros.
        empty = _rollup.AgentTotals(**_rollup.sum_agents([]))
        changed = {
            place: sums.get(place, empty)
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
        with_agent = [member for member in members if member.view is not None]
        groups = {ALL_PLACES: with_agent}
        if grouping is not None:
            for group in _rollup.group_members(with_agent, _rollup.GROUP_KEY_FUNCTIONS[grouping]):
                groups[_rollup.format_group_name(group[0], grouping)] = group
        return {place: _rollup.AgentTotals(**_rollup.sum_agents(group)) for place, group in groups.items()}


def _build_state_item(agent_row: AgentRow, at: str, cursor: str) -> WatchItem:
    name, pane = agent_row.agent or "", agent_row.identity.id
    return WatchItem(kind="state", at=at, cursor=cursor, pane=pane, name=name, agent=agent_row, after=agent_row.state)


def _parse_state_name(value: Scalar) -> StateName | None:
    return next((state for state in PRECEDENCE if state == value), None)


def render_text(result: WatchItem, options: RenderOptions) -> str:
    time = options.paint("dim", result.at[11:19])
    if result.summary is not None:
        totals = f"{pluralize(result.summary.agents, 'agent')}: {_rollup.format_counts(result.summary.by_state) or '-'}"
        return f"{time}  {options.paint('dim', sanitize(f'{result.place} {totals}').strip())}"
    return f"{time}  {result.pane:>4}  {_format_change(result, options)}"


def _format_change(item: WatchItem, options: RenderOptions) -> str:
    agent, name = item.agent, sanitize(item.name)
    if item.kind == "agent_ended":
        return f"{name} ended"
    title = options.paint("dim", sanitize(agent.agent_title)) if agent is not None else ""
    if item.kind == "agent_began":
        return f"{name} started  {title}".rstrip()
    before = f"{format_state(item.before)} → " if item.before is not None else ""
    state = format_state_cell(agent) if agent is not None and agent.state == item.after else format_state(item.after)
    style = STATE_STYLES[item.after] if item.after is not None else ""
    return f"{name}  {before}{options.paint(style, sanitize(state))}  {title}".rstrip()


OP = Operation(
    name="watch",
    robot_name="watch",
    summary="Stream agent state changes, one line each.",
    doc="""Starts with the current state and continues with every change as it is stored; nothing is polled. In JSON
(`--format jsonl`) each line is one object: `state`, `state_changed`, `agent_began`, `agent_ended` or `summary_changed`.
Each has a `cursor`: after an interruption, resume with `--since-cursor` and no change is lost. `--since` starts at a
time instead. With `--scope windows`
or `sessions` only their totals are reported. Times are UTC.""",
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("watch", "all agents, from now on"),
        OperationExample("watch --needs-action", "only agents that need you"),
        OperationExample("watch --scope sessions --format jsonl", "totals of sessions, one JSON object per line"),
        OperationExample("watch --since 10m", "the changes of the last ten minutes, then new ones"),
        OperationExample("robot watch --since-cursor 120", "changes after event 120, then new ones"),
    ),
)
