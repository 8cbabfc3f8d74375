"""The operation `watch_events`: stream stored events from a cursor on, without loss.

Updates only wake the reader; events are always read from the store by cursor, so a slow client misses none.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import InvalidCursor
from termvisor.model.detection.detection import DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import (
    AgentFilter,
    EventItem,
    KindFilter,
    RuleFilter,
    SeverityFilter,
    TypeFilter,
    UnhandledFilter,
    build_event_item,
    can_be_detection,
    check_detection_type,
    check_event_kind,
    check_rule_and_agent,
    matches_filter,
    parse_event_cursor,
    read_newest_cursor,
)
from termvisor.ops.events.list_events import COLUMNS
from termvisor.ops.panes._pane_reference import PaneFilter, resolve_pane_id
from termvisor.ops.render.text import RenderOptions, sanitize

# Events of one read; a slow client holds no more than one page in memory.
_PAGE_SIZE = 200


class WatchEventsArgs(Struct, frozen=True, kw_only=True):
    """Choose the start of the stream and the events."""

    since_cursor: Annotated[
        str | None, Meta(description="Start after this cursor; default: now.", extra={"also": ("--cursor",)})
    ] = None
    pane: PaneFilter = None
    kind: KindFilter = None
    once: Annotated[bool, Meta(description="Print the stored events, then exit.")] = False
    unhandled: UnhandledFilter = False
    type: TypeFilter = None
    rule: RuleFilter = None
    agent: AgentFilter = None
    severity: SeverityFilter = None


async def run(services: Services, args: WatchEventsArgs) -> AsyncIterator[EventItem]:
    check_event_kind(args.kind)
    check_detection_type(args.type)
    await check_rule_and_agent(services, args.rule, args.agent)
    pane = await resolve_pane_id(services, args.pane)
    detection_filter = DetectionFilter(
        type=args.type, rule=args.rule, agent=args.agent, severity=args.severity, is_unhandled=args.unhandled
    )
    async with aclosing(read_event_pages(services, args, pane)) as pages:
        async for events in pages:
            detections = await services.detections.find_by_events(
                event.id for event in events if can_be_detection(event.kind)
            )
            for event in events:
                if matches_filter(detection := detections.get(event.id), detection_filter):
                    yield build_event_item(event, detection)


async def read_event_pages(
    services: Services, args: WatchEventsArgs, pane: PaneId | None
) -> AsyncGenerator[list[Event], None]:
    """Yield stored events in pages, then new ones as they are stored."""
    # Subscribed before the first page: an event stored in between wakes the loop instead of being missed.
    with services.updates.subscribe_events() as updates:
        cursor = await _resolve_start_cursor(services, args)
        while True:
            # Before the pages: events stored meanwhile lie beyond it.
            reached = await read_newest_cursor(services)
            while events := await services.history.list_events(
                after=cursor, pane=pane, kind=args.kind, limit=_PAGE_SIZE
            ):
                cursor = events[-1].id
                yield events
            # A cursor kept behind filtered events could fall out of the retention.
            cursor = max(cursor, reached)
            if args.once:
                return
            await updates.get()
            updates.drain()


async def _resolve_start_cursor(services: Services, args: WatchEventsArgs) -> int:
    if args.since_cursor is not None:
        return parse_event_cursor(args.since_cursor)
    return await _find_oldest_cursor(services) if args.once else await find_start_cursor(services)


async def find_start_cursor(services: Services) -> int:
    """Return the cursor after the newest event."""
    return await read_newest_cursor(services) or await _find_oldest_cursor(services)


async def _find_oldest_cursor(services: Services) -> int:
    """Return the cursor before the oldest stored event."""
    try:
        await services.history.list_events(after=0, limit=1)
    except InvalidCursor as error:  # retention has deleted the first events
        return int(str(error.details["oldest"]))
    return 0


def render_text(result: EventItem, options: RenderOptions) -> str:
    cells = [sanitize(column.render_cell(result)) for column in COLUMNS]
    return "  ".join(options.paint(column.style, cell) for column, cell in zip(COLUMNS, cells, strict=True)).rstrip()


OP = Operation(
    name="watch_events",
    summary="Stream events as they are stored; resumes from a cursor.",
    doc="""One line per event, in JSON one object per line. Each has a `cursor`; after an interruption, resume with
`--since-cursor` and no event is lost or repeated. Without a cursor it starts with the next event; `--once` prints the
events stored after the cursor and exits. `--type`, `--rule`, `--agent`, `--severity` and `--unhandled` select
detections only.""",
    args_type=WatchEventsArgs,
    result_type=EventItem,
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("watch-events", "all events from now on"),
        OperationExample("watch-events --since-cursor 120 --json", "resume after event 120, one JSON object per line"),
        OperationExample("watch-events --since-cursor 120 --once", "only the stored events"),
        OperationExample("watch-events --type 'usage.*' --severity warning --json", "usage limits as they are reached"),
    ),
)
