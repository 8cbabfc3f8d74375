"""The op `watch_events`: events as they are stored, from a cursor on, without a hole.

The news only wakes; what is told is always read from the store by cursor, so a slow listener misses nothing.
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
    RuleFilter,
    SeverityFilter,
    TypeFilter,
    UnhandledFilter,
    check_detection_type,
    matches_filter,
)
from termvisor.ops.events.list_events import (
    COLUMNS,
    EventItem,
    KindFilter,
    build_event_item,
    can_be_detection,
    check_event_kind,
    check_rule_and_agent,
    parse_event_cursor,
    read_newest_cursor,
)
from termvisor.ops.panes._listing import PaneFilter, resolve_pane_id
from termvisor.ops.render.text import RenderOptions, sanitize

_PAGE_SIZE = 200


class WatchEventsArgs(Struct, frozen=True, kw_only=True):
    """From where to watch, and for what."""

    since_cursor: Annotated[
        str | None,
        Meta(description="Begin after this cursor; without it, begin now.", extra={"also": ("--cursor",)}),
    ] = None
    pane: PaneFilter = None
    kind: KindFilter = None
    once: Annotated[bool, Meta(description="Tell what is already there, then stop.")] = False
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
    only = DetectionFilter(
        type=args.type,
        rule=args.rule,
        agent=args.agent,
        severity=args.severity,
        is_unhandled=args.unhandled,
    )
    async with aclosing(read_event_pages(services, args, pane)) as found:
        async for events in found:
            detections = await services.detections.find_by_events(
                one.id for one in events if can_be_detection(one.kind)
            )
            for event in events:
                if matches_filter(detection := detections.get(event.id), only):
                    yield build_event_item(event, detection)


async def read_event_pages(
    services: Services, args: WatchEventsArgs, pane: PaneId | None
) -> AsyncGenerator[list[Event], None]:
    """The events from the start on, as many together as are stored already."""
    with services.updates.subscribe_events() as news:
        cursor = await _resolve_start_cursor(services, args)
        while True:
            reached = await read_newest_cursor(services)  # first: what happens meanwhile lies beyond it
            while events := await services.history.list_events(
                after=cursor, pane=pane, kind=args.kind, limit=_PAGE_SIZE
            ):
                cursor = events[-1].id
                yield events
            cursor = max(cursor, reached)  # else it would grow too old while others happen
            if args.once:
                return
            await news.get()
            news.drain()


async def _resolve_start_cursor(services: Services, args: WatchEventsArgs) -> int:
    if args.since_cursor is not None:
        return parse_event_cursor(args.since_cursor)
    return await _find_oldest_cursor(services) if args.once else await find_start_cursor(services)


async def find_start_cursor(services: Services) -> int:
    """The cursor beyond all that happened."""
    return await read_newest_cursor(services) or await _find_oldest_cursor(services)


async def _find_oldest_cursor(services: Services) -> int:
    """The cursor of all that is kept; the first events may have been deleted."""
    try:
        await services.history.list_events(after=0, limit=1)
    except InvalidCursor as told:
        return int(str(told.details["oldest"]))
    return 0


def render_text(result: EventItem, options: RenderOptions) -> str:
    cells = [sanitize(column.render_cell(result)) for column in COLUMNS]
    return "  ".join(options.paint(column.style, cell) for column, cell in zip(COLUMNS, cells, strict=True)).rstrip()


OP = Operation(
    name="watch_events",
    summary="Events as they happen; resumes from a cursor.",
    doc="""A stream: one line an event, in JSON one object a line. Each carries its `cursor`; after a break, begin
again with `--since-cursor` and nothing is lost or doubled. Without a cursor it begins with the next event; with
`--once` it tells what is stored beyond the cursor and ends. `--type`, `--rule`, `--agent`, `--severity` and
`--unhandled` pass detections only: what rules found and agents told.""",
    args_type=WatchEventsArgs,
    result_type=EventItem,
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    examples=(
        OperationExample("watch-events", "everything from now on"),
        OperationExample("watch-events --since-cursor 120 --json", "resume after event 120, one JSON object a line"),
        OperationExample("watch-events --since-cursor 120 --once", "only what is already stored"),
        OperationExample("watch-events --type 'usage.*' --severity warning --json", "limits, as they are reached"),
    ),
)
