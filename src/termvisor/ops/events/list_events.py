"""The operation `list_events`: list stored events, or only detections."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.detection.detection import DetectionFilter
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events import _event_item
from termvisor.ops.events._event_text import describe_event, format_event_data
from termvisor.ops.panes._pane_reference import PaneFilter, resolve_pane_id
from termvisor.ops.render.results import BaseListing, build_filters, count_values, parse_time_filter, render_listing
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, pluralize


class ListEventsArgs(Struct, frozen=True, kw_only=True):
    """Choose the events to list."""

    limit: Annotated[int, Meta(description="Maximum number of events.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    kind: _event_item.KindFilter = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    since_cursor: Annotated[
        str | None, Meta(description="List the first events after this cursor.", extra={"also": ("--cursor",)})
    ] = None
    unhandled: _event_item.UnhandledFilter = False
    type: _event_item.TypeFilter = None
    rule: _event_item.RuleFilter = None
    agent: _event_item.AgentFilter = None
    severity: _event_item.SeverityFilter = None
    would_handle: Annotated[
        bool, Meta(description="Only detections, each with the workflow that would handle it now.")
    ] = False
    wait: Annotated[
        float, Meta(description="If no event matches, wait up to this many seconds for one.", ge=0, le=604_800)
    ] = 0.0
    dry_run: Annotated[bool, Meta(description="With --would-handle: no effect; listing never starts a workflow.")] = (
        False
    )


class EventsSummary(Struct, frozen=True, kw_only=True):
    events: int
    by_kind: dict[str, int]


class EventListing(BaseListing, frozen=True, kw_only=True):
    """Events, oldest first. ``cursor`` is where the next call, or `watch-events`, continues; it is beyond all events
    that the filters skipped.
    """

    summary: EventsSummary
    items: tuple[_event_item.EventItem, ...]
    cursor: str | None


async def run(services: Services, args: ListEventsArgs) -> EventListing:
    now = services.clock.now()
    _event_item.check_event_kind(args.kind)
    _event_item.check_detection_type(args.type)
    after = None if args.since_cursor is None else await _event_item.parse_event_cursor(services, args.since_cursor)
    reached, items = await _read_or_wait(services, args, after, now)
    # A full page may have omitted matching events, so the cursor stays at the last event of the page.
    has_more = after is not None and len(items) == args.limit
    cursor = max(after or 0, int(items[-1].cursor) if items else 0, 0 if has_more else reached)
    names = [name for name in args.__struct_fields__ if name not in ("limit", "wait")]
    return EventListing(
        generated_at=format_timestamp(now),
        filters=build_filters(**{name: getattr(args, name) for name in names}),
        summary=EventsSummary(events=len(items), by_kind=count_values(item.kind for item in items)),
        items=items,
        cursor=str(cursor) if cursor else args.since_cursor,
    )


async def _read_or_wait(
    services: Services, args: ListEventsArgs, after: int | None, now: int
) -> tuple[int, tuple[_event_item.EventItem, ...]]:
    """Return the newest cursor and the matching events; without any, wait for one."""
    read_items = _read_detection_items if _needs_detections(args) else _read_event_items
    deadline = services.clock.monotonic() + args.wait
    # Subscribe before the first read, so that an event stored in between wakes the loop instead of being missed.
    with services.updates.subscribe_events() as updates:
        while True:
            # Read before the list, so that events stored in the meantime come after this cursor.
            reached = await _event_item.read_newest_cursor(services)
            items = tuple(await read_items(services, args, after, now))
            if items or (left := deadline - services.clock.monotonic()) <= 0:
                return reached, items
            await wait_for_update(services.clock, left, updates)


def _needs_detections(args: ListEventsArgs) -> bool:
    """Return True if a filter applies to detections only. Raises BadRequest for conflicting filters."""
    filters = (args.type, args.rule, args.agent, args.severity)
    if args.dry_run and not args.would_handle:
        raise BadRequest("--dry-run requires --would-handle", hint="Listing events never starts a workflow.")
    needs_detections = args.unhandled or args.would_handle or any(value is not None for value in filters)
    if needs_detections and args.kind is not None:
        raise BadRequest("--kind cannot be combined with detection filters", hint="Use --type for detections.")
    return needs_detections


async def _read_event_items(
    services: Services, args: ListEventsArgs, after: int | None, now: int
) -> list[_event_item.EventItem]:
    events = await services.history.list_events(
        after=after,
        pane=await resolve_pane_id(services, args.pane),
        since=parse_time_filter(args.since, now),
        kind=args.kind,
        limit=args.limit,
    )
    return await _event_item.build_event_items(services, events)


async def _read_detection_items(
    services: Services, args: ListEventsArgs, after: int | None, now: int
) -> list[_event_item.EventItem]:
    if after is not None:
        # Raises InvalidCursor, which detections do not check.
        await services.history.list_events(after=after, limit=1)
    detection_filter = DetectionFilter(
        type=args.type,
        rule=args.rule,
        agent=args.agent,
        severity=args.severity,
        pane=await resolve_pane_id(services, args.pane),
        since=parse_time_filter(args.since, now),
        is_unhandled=args.unhandled,
        after=after,
        limit=args.limit,
    )
    detections = await services.detections.list(detection_filter)
    if not detections:
        await _event_item.check_rule_and_agent(services, args.rule, args.agent)
    return [
        _event_item.build_item_of_detection(
            detection, services.workflows.find_answering_workflow(detection) if args.would_handle else None
        )
        for detection in detections
    ]


def _format_details(event_item: _event_item.EventItem) -> str:
    detection = event_item.detection
    if detection is None:
        return format_event_data(event_item.data)
    parts = (
        detection.severity,
        detection.rule,
        format_event_data(dict(detection.captures)),
        f"seen {detection.seen_again + 1} times" if detection.seen_again else "",
        "" if detection.proven else "not proven",
        f"handled by {detection.handled.by}" if detection.handled is not None else "",
        f"-> {detection.remedy}" if detection.remedy else "",
    )
    return "  ".join(part for part in parts if part)


COLUMNS = (
    TableColumn("CURSOR", lambda event: event.cursor, is_right_aligned=True),
    TableColumn("AT", lambda event: event.at, style="dim", kind="time"),
    TableColumn("PANE", lambda event: str(event.pane or "-"), is_right_aligned=True),
    TableColumn("KIND", lambda event: event.kind, style="bold", worth=2),
    TableColumn("DETAILS", _format_details, can_shrink=True),
)


_SENTENCE_COLUMN = TableColumn("WHAT", describe_event, can_shrink=True, min_width=30)


def choose_columns(options: RenderOptions) -> tuple[TableColumn, ...]:
    """Return the columns: with a sentence per event in a terminal, with all fields elsewhere."""
    return (*COLUMNS[:-1], _SENTENCE_COLUMN) if options.width else COLUMNS


def render_text(result: EventListing, options: RenderOptions) -> str:
    footer = pluralize(result.summary.events, "event")
    return render_listing(choose_columns(options), result.items, options, empty="No events.", footer=footer)


OP = Operation(
    name="list_events",
    aliases=("events",),
    robot_name="events",
    summary="List the newest events: detections, panes that came and went, gaps, restarts.",
    doc="""A bounded list, oldest first. `cursor` is where `watch-events --since-cursor` continues.
The events reference lists all kinds.

A rule match in a pane and a report of an agent are detections: their events also have the rule, severity, captures,
place, how often it was seen again within its cooldown, and who handled it. `--unhandled`, `--type`, `--rule`,
`--agent`, `--severity` and `--would-handle` list detections only. `visor events ack` marks one as handled, `visor
events mute` mutes its rule or type, `visor explain event:<cursor>` explains it.

With `--wait`, a call that finds nothing returns as soon as a matching event is stored: pass the `cursor` of the last
answer to wait for what comes after it.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("events", "the newest 20"),
        OperationExample("events --kind gap_recorded --since today", "today's gaps"),
        OperationExample("events --unhandled --severity warning", "detections that need attention"),
        OperationExample("events --type 'usage.*' --agent codex --would-handle", "with the workflow that handles each"),
        OperationExample("robot events --since-cursor 120", "the events after event 120, as JSON"),
        OperationExample("robot events --unhandled --wait 60", "wait up to a minute for one, as JSON"),
    ),
)
