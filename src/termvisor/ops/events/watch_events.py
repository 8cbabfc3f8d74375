"""The operation `watch_events`: stream stored events after a cursor, without loss.

Updates only wake the reader; events are always read from the store by cursor, so a slow client misses none.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from math import inf
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.bus import Subscription, wait_for_update
from termvisor.clock import Clock, parse_timestamp
from termvisor.model.detection.detection import DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events import _event_item
from termvisor.ops.events.list_events import choose_columns
from termvisor.ops.panes._pane_reference import PaneFilter, resolve_pane_id
from termvisor.ops.render.text import RenderOptions, sanitize

# Events per read; a slow client holds at most one page in memory.
_PAGE_SIZE = 200


class WatchEventsArgs(Struct, frozen=True, kw_only=True):
    """Choose the start of the stream and the events."""

    since_cursor: Annotated[
        str | None, Meta(description="Start after this cursor; default: now.", extra={"also": ("--cursor",)})
    ] = None
    since: Annotated[
        str | None, Meta(description="Start with the first event since this: ISO 8601, today, or an age such as 10m.")
    ] = None
    pane: PaneFilter = None
    kind: _event_item.KindFilter = None
    once: Annotated[bool, Meta(description="Print the stored events, then exit.")] = False
    limit: Annotated[
        int, Meta(description="Exit after this many events; 0: no limit.", ge=0, extra={"short": ("-n",)})
    ] = 0
    timeout_secs: Annotated[
        float,
        Meta(description="Exit after this many seconds; 0: never.", ge=0, le=604_800, extra={"also": ("--timeout",)}),
    ] = 0.0
    unhandled: _event_item.UnhandledFilter = False
    type: _event_item.TypeFilter = None
    rule: _event_item.RuleFilter = None
    agent: _event_item.AgentFilter = None
    severity: _event_item.SeverityFilter = None


async def run(services: Services, args: WatchEventsArgs) -> AsyncIterator[_event_item.EventItem]:
    printed = 0
    async with aclosing(_read_items(services, args)) as items:
        async for item in items:
            yield item
            printed += 1
            if printed == args.limit:
                return


async def _read_items(services: Services, args: WatchEventsArgs) -> AsyncGenerator[_event_item.EventItem, None]:
    _event_item.check_event_kind(args.kind)
    _event_item.check_detection_type(args.type)
    await _event_item.check_rule_and_agent(services, args.rule, args.agent)
    pane = await resolve_pane_id(services, args.pane)
    detection_filter = DetectionFilter(
        type=args.type, rule=args.rule, agent=args.agent, severity=args.severity, is_unhandled=args.unhandled
    )
    async with aclosing(read_event_pages(services, args, pane)) as pages:
        async for events in pages:
            detections = await services.detections.find_by_events(
                event.id for event in events if _event_item.can_be_detection(event.kind)
            )
            for event in events:
                if _event_item.matches_filter(detection := detections.get(event.id), detection_filter):
                    yield _event_item.build_event_item(event, detection)


async def read_event_pages(
    services: Services, args: WatchEventsArgs, pane: PaneId | None
) -> AsyncGenerator[list[Event], None]:
    """Yield stored events in pages, then new ones as they are stored."""
    deadline = services.clock.monotonic() + args.timeout_secs if args.timeout_secs else inf
    # Subscribe before the first page, so that an event stored in between wakes the loop instead of being missed.
    with services.updates.subscribe_events() as updates:
        cursor = await _resolve_start_cursor(services, args)
        while True:
            # Read before the pages, so that events stored in the meantime come after this cursor.
            reached = await _event_item.read_newest_cursor(services)
            while events := await services.history.list_events(
                after=cursor, pane=pane, kind=args.kind, limit=_PAGE_SIZE
            ):
                cursor = events[-1].id
                yield events
            # If the cursor did not advance past filtered events, it could become older than all stored events.
            cursor = max(cursor, reached)
            if args.once:
                return
            if not await _wait_until(services.clock, deadline, updates):
                return
            updates.drain()


async def _wait_until(clock: Clock, deadline: float, updates: Subscription[Event]) -> bool:
    """Wait for an update; return False if the deadline passes first."""
    if deadline == inf:
        await updates.get()
        return True
    return bool(await wait_for_update(clock, max(0.0, deadline - clock.monotonic()), updates))


async def _resolve_start_cursor(services: Services, args: WatchEventsArgs) -> int:
    if args.since_cursor is not None:
        return await _event_item.parse_event_cursor(services, args.since_cursor)
    if args.since is not None:
        return await _event_item.find_cursor_at(services, parse_timestamp(args.since, services.clock.now()))
    return await _event_item.find_oldest_cursor(services) if args.once else await find_start_cursor(services)


async def find_start_cursor(services: Services) -> int:
    """Return the cursor after the newest event."""
    return await _event_item.read_newest_cursor(services) or await _event_item.find_oldest_cursor(services)


def render_text(result: _event_item.EventItem, options: RenderOptions) -> str:
    columns = choose_columns(options)
    cells = [sanitize(column.render_cell(result)) for column in columns]
    if options.width:
        # The rows of a stream stay on the screen, so they show the time of day instead of an age.
        cells[1] = result.at[11:19]
    return "  ".join(options.paint(column.style, cell) for column, cell in zip(columns, cells, strict=True)).rstrip()


OP = Operation(
    name="watch_events",
    summary="Stream events as they are stored; resumes from a cursor.",
    doc="""One line per event, in JSON one object per line. Each has a `cursor`; after an interruption, resume with
`--since-cursor` and no event is lost or repeated. `--since` starts at a time instead. Without both it starts with the
next event; `--once` prints the events stored since then and exits. `--type`, `--rule`, `--agent`, `--severity` and
`--unhandled` select detections only. `--limit` and `--timeout-secs` end the stream after so many events or seconds,
with exit status 0.""",
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("watch-events", "all events from now on"),
        OperationExample("watch-events --since-cursor 120 --json", "resume after event 120, one JSON object per line"),
        OperationExample("watch-events --since-cursor 120 --once", "only the stored events"),
        OperationExample("robot watch-events --limit 1 --timeout-secs 60", "the next event, or nothing after a minute"),
        OperationExample("watch-events --type 'usage.*' --severity warning --json", "usage limits as they are reached"),
    ),
)
