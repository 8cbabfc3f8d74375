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
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.events._detection_item import (
    AgentFilter,
    RuleFilter,
    SeverityFilter,
    TypeFilter,
    UnhandledFilter,
    check_type,
    passes,
)
from termvisor.ops.events.list_events import (
    COLUMNS,
    EventItem,
    KindFilter,
    check_filters,
    check_kind,
    event_cursor,
    item,
    may_be_detection,
    newest_cursor,
)
from termvisor.ops.panes._listing import PaneFilter, named_id
from termvisor.ops.render.text import Look, clean

_PAGE = 200


class WatchEvents(Struct, frozen=True, kw_only=True):
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


async def run(world: World, wanted: WatchEvents) -> AsyncIterator[EventItem]:
    check_kind(wanted.kind)
    check_type(wanted.type)
    await check_filters(world, wanted.rule, wanted.agent)
    pane = await named_id(world, wanted.pane)
    only = DetectionFilter(
        type=wanted.type,
        rule=wanted.rule,
        agent=wanted.agent,
        severity=wanted.severity,
        is_unhandled=wanted.unhandled,
    )
    async with aclosing(pages(world, wanted, pane)) as found:
        async for events in found:
            detections = await world.detections.some(one.id for one in events if may_be_detection(one.kind))
            for event in events:
                if passes(detection := detections.get(event.id), only):
                    yield item(event, detection)


async def pages(world: World, wanted: WatchEvents, pane: PaneId | None) -> AsyncGenerator[list[Event], None]:
    """The events from the start on, as many together as are stored already."""
    with world.news.events() as news:
        cursor = await _start(world, wanted)
        while True:
            reached = await newest_cursor(world)  # first: what happens meanwhile lies beyond it
            while events := await world.history.events(after=cursor, pane=pane, kind=wanted.kind, limit=_PAGE):
                cursor = events[-1].id
                yield events
            cursor = max(cursor, reached)  # else it would grow too old while others happen
            if wanted.once:
                return
            await news.get()
            news.drain()


async def _start(world: World, wanted: WatchEvents) -> int:
    if wanted.since_cursor is not None:
        return event_cursor(wanted.since_cursor)
    return await _oldest(world) if wanted.once else await start(world)


async def start(world: World) -> int:
    """The cursor beyond all that happened."""
    return await newest_cursor(world) or await _oldest(world)


async def _oldest(world: World) -> int:
    """The cursor of all that is kept; the first events may have been deleted."""
    try:
        await world.history.events(after=0, limit=1)
    except InvalidCursor as told:
        return int(str(told.details["oldest"]))
    return 0


def plain(event: EventItem, look: Look) -> str:
    cells = [clean(column.cell(event)) for column in COLUMNS]
    return "  ".join(look.paint(column.style, cell) for column, cell in zip(COLUMNS, cells, strict=True)).rstrip()


OP = Op(
    name="watch_events",
    summary="Events as they happen; resumes from a cursor.",
    doc="""A stream: one line an event, in JSON one object a line. Each carries its `cursor`; after a break, begin
again with `--since-cursor` and nothing is lost or doubled. Without a cursor it begins with the next event; with
`--once` it tells what is stored beyond the cursor and ends. `--type`, `--rule`, `--agent`, `--severity` and
`--unhandled` pass detections only: what rules found and agents told.""",
    Input=WatchEvents,
    Output=EventItem,
    run=run,
    plain=plain,
    is_stream=True,
    is_live=True,
    examples=(
        Example("watch-events", "everything from now on"),
        Example("watch-events --since-cursor 120 --json", "resume after event 120, one JSON object a line"),
        Example("watch-events --since-cursor 120 --once", "only what is already stored"),
        Example("watch-events --type 'usage.*' --severity warning --json", "limits, as they are reached"),
    ),
)
