"""The op `list_events`: the newest stored facts about the fleet, and of those what rules found."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest, InvalidCursor
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event import EVENT_KINDS, Event, Scalar
from termvisor.model.event_types import EVENT_TYPES, is_event_type
from termvisor.ops.agents._pane_agents import check_agent_name
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import (
    AgentFilter,
    DetectionItem,
    RuleFilter,
    SeverityFilter,
    TypeFilter,
    UnhandledFilter,
    build_detection_item,
    check_detection_type,
    check_rule_or_type,
)
from termvisor.ops.panes._listing import (
    BaseListing,
    PaneFilter,
    build_filters,
    count_values,
    parse_time_filter,
    resolve_pane_id,
)
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table

KindFilter = Annotated[
    str | None, Meta(description="Only this kind, for example gap_recorded.", extra={"names": "event"})
]


class ListEventsArgs(Struct, frozen=True, kw_only=True):
    """Which events to list."""

    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    kind: KindFilter = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    since_cursor: Annotated[
        str | None, Meta(description="The first ones after this cursor.", extra={"also": ("--cursor",)})
    ] = None
    unhandled: UnhandledFilter = False
    type: TypeFilter = None
    rule: RuleFilter = None
    agent: AgentFilter = None
    severity: SeverityFilter = None
    would_handle: Annotated[
        bool, Meta(description="Only detections, each with the workflow that would answer it now.")
    ] = False
    dry_run: Annotated[bool, Meta(description="With --would-handle: only say it. Listing never starts anything.")] = (
        False
    )


class EventItem(Struct, frozen=True, kw_only=True):
    """``cursor`` names this event; what comes after it is found by giving it back. ``detection`` is null for what no
    rule found and no agent told.
    """

    cursor: str
    at: str
    kind: str
    pane: int | None
    data: dict[str, Scalar]
    detection: DetectionItem | None = None


class EventsSummary(Struct, frozen=True, kw_only=True):
    events: int
    by_kind: dict[str, int]


class EventListing(BaseListing, frozen=True, kw_only=True):
    """Events, oldest first. ``cursor`` is where the next call, or `watch-events`, goes on: beyond all passed over."""

    summary: EventsSummary
    items: tuple[EventItem, ...]
    cursor: str | None


async def run(services: Services, args: ListEventsArgs) -> EventListing:
    now = services.clock.now()
    check_event_kind(args.kind)
    check_detection_type(args.type)
    after = None if args.since_cursor is None else parse_event_cursor(args.since_cursor)
    reached = await read_newest_cursor(services)  # first: what happens meanwhile lies beyond it
    items = tuple(
        await (_read_detection_items if _needs_detections(args) else _read_event_items)(services, args, after, now)
    )
    has_more = after is not None and len(items) == args.limit
    given = build_filters(**{name: getattr(args, name) for name in args.__struct_fields__ if name != "limit"})
    summary = EventsSummary(events=len(items), by_kind=count_values(one.kind for one in items))
    cursor = max(after or 0, int(items[-1].cursor) if items else 0, 0 if has_more else reached)
    told = str(cursor) if cursor else args.since_cursor
    return EventListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items, cursor=told)


def _needs_detections(args: ListEventsArgs) -> bool:
    chosen = (args.type, args.rule, args.agent, args.severity)
    if args.dry_run and not args.would_handle:
        raise BadRequest("--dry-run goes with --would-handle", hint="Listing events never does anything.")
    is_asked = args.unhandled or args.would_handle or any(one is not None for one in chosen)
    if is_asked and args.kind is not None:
        raise BadRequest("--kind goes with no filter for detections", hint="--type chooses the type of a detection.")
    return is_asked


async def _read_event_items(services: Services, args: ListEventsArgs, after: int | None, now: int) -> list[EventItem]:
    events = await services.history.list_events(
        after=after,
        pane=await resolve_pane_id(services, args.pane),
        since=parse_time_filter(args.since, now),
        kind=args.kind,
        limit=args.limit,
    )
    return await build_event_items(services, events)


async def _read_detection_items(
    services: Services, args: ListEventsArgs, after: int | None, now: int
) -> list[EventItem]:
    if after is not None:
        await services.history.list_events(after=after, limit=1)  # a foreign cursor is refused
    only = DetectionFilter(
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
    found = await services.detections.list(only)
    if not found:
        await check_rule_and_agent(services, args.rule, args.agent)
    return [
        build_item_of_detection(one, services.workflows.find_answering_workflow(one) if args.would_handle else None)
        for one in found
    ]


async def check_rule_and_agent(services: Services, rule: str | None, agent: str | None) -> None:
    """`BadRequest` for names that nobody has: of them nothing will ever be found."""
    if rule is not None and not any(sign in rule for sign in "*?["):
        check_rule_or_type(rule, services.detections.rules.values())
    if agent is not None:
        await check_agent_name(services, agent)


def build_item_of_detection(detection: Detection, workflow: str | None = None) -> EventItem:
    event = Event(
        id=detection.event, at=detection.at, kind=detection.type, pane=detection.pane, data=detection.event_data
    )
    return build_event_item(event, detection, workflow)


async def build_event_items(services: Services, events: Sequence[Event]) -> list[EventItem]:
    """Events with what rules and agents know of them."""
    known = await services.detections.find_by_events([event.id for event in events if can_be_detection(event.kind)])
    return [build_event_item(event, known.get(event.id)) for event in events]


def can_be_detection(kind: str) -> bool:
    return "." in kind or kind == "user_var"


async def read_newest_cursor(services: Services) -> int:
    """Of the newest event there is; 0 where there is none."""
    newest = await services.history.list_events(limit=1)
    return newest[-1].id if newest else 0


def build_event_item(event: Event, detection: Detection | None = None, workflow: str | None = None) -> EventItem:
    return EventItem(
        cursor=str(event.id),
        at=format_timestamp(event.at),
        kind=event.kind,
        pane=event.pane,
        data=event.data,
        detection=None if detection is None else build_detection_item(detection, workflow),
    )


def parse_event_cursor(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InvalidCursor(f"{text!r} is not a cursor of the event stream", details={"oldest": "0"})
    return int(text)


def check_event_kind(kind: str | None) -> None:
    known = {**EVENT_KINDS, **EVENT_TYPES}
    if kind is not None and kind not in known and not is_event_type(kind):
        near = find_close_matches(kind, list(known))
        hint = f"Did you mean {near[0]}?" if near else "`docs/reference/events.md` lists them."
        raise BadRequest(f"there is no event kind {kind!r}", hint=hint, details={"kinds": list(known)})


def _format_details(event_item: EventItem) -> str:
    found = event_item.detection
    if found is None:
        return format_event_data(event_item.data)
    again = f"seen {found.seen_again + 1} times" if found.seen_again else ""
    seen_to = f"handled by {found.handled.by}" if found.handled is not None else ""
    would = f"-> {found.remedy}" if found.remedy else ""
    unproven = "" if found.proven else "not proven"
    captures = " ".join(f"{name}={value}" for name, value in found.captures.items())
    parts = (found.severity, found.rule, captures, again, unproven, seen_to, would)
    return "  ".join(part for part in parts if part)


COLUMNS = (
    TableColumn("CURSOR", lambda event: event.cursor, is_right_aligned=True),
    TableColumn("AT", lambda event: event.at, style="dim"),
    TableColumn("PANE", lambda event: str(event.pane or "-"), is_right_aligned=True),
    TableColumn("KIND", lambda event: event.kind, style="bold"),
    TableColumn("WHAT", _format_details, can_shrink=True),
)


def format_event_data(data: dict[str, Scalar]) -> str:
    """`cause=pipe_stolen seconds=3`."""
    return " ".join(f"{name}={value}" for name, value in data.items())


def render_text(result: EventListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    return f"{rows}\n\n{pluralize(result.summary.events, 'event')}" if result.items else "No events."


OP = Operation(
    name="list_events",
    aliases=("events",),
    robot_name="events",
    summary="The newest events: what rules found, panes that came and went, gaps, restarts.",
    doc="""A bounded list, oldest first. `cursor` is where to go on; `watch-events --since-cursor` follows from there.
The kinds are listed in the events reference.

What a rule found in a pane, and what an agent told of itself, is a detection: its event also says which rule, how
severe, what was captured, where, how often it was seen again within its cooldown, and who saw to it. `--unhandled`,
`--type`, `--rule`, `--agent`, `--severity` and `--would-handle` list detections only. `visor events ack` says that you
saw to one, `visor events mute` that you need not be told, `visor explain event:<cursor>` why it was found.""",
    args_type=ListEventsArgs,
    result_type=EventListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("events", "the newest 20"),
        OperationExample("events --kind gap_recorded --since today", "today's gaps"),
        OperationExample("events --unhandled --severity warning", "what somebody should see to"),
        OperationExample("events --type 'usage.*' --agent codex --would-handle", "and which workflow answers it"),
        OperationExample("robot events --since-cursor 120", "what happened after event 120, as JSON"),
    ),
)
