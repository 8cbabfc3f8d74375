"""The op `list_events`: the newest stored facts about the fleet, and of those what rules found."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest, InvalidCursor
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.did_you_mean import nearest
from termvisor.model.event import EVENT_KINDS, Event, Scalar
from termvisor.model.event_types import EVENT_TYPES, is_event_type
from termvisor.ops.agents._pane_agents import check_agent
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.events._detection_item import (
    AgentFilter,
    DetectionItem,
    RuleFilter,
    SeverityFilter,
    TypeFilter,
    UnhandledFilter,
    check_name,
    check_type,
    detection_item,
)
from termvisor.ops.panes._listing import Listing, PaneFilter, counts, filters, moment, named_id
from termvisor.ops.render.text import Column, Look, counted, table

KindFilter = Annotated[
    str | None, Meta(description="Only this kind, for example gap_recorded.", extra={"names": "event"})
]


class ListEvents(Struct, frozen=True, kw_only=True):
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


class EventListing(Listing, frozen=True, kw_only=True):
    """Events, oldest first. ``cursor`` is where the next call, or `watch-events`, goes on: beyond all passed over."""

    summary: EventsSummary
    items: tuple[EventItem, ...]
    cursor: str | None


async def run(world: World, wanted: ListEvents) -> EventListing:
    now = world.clock.now()
    check_kind(wanted.kind)
    check_type(wanted.type)
    after = None if wanted.since_cursor is None else event_cursor(wanted.since_cursor)
    reached = await newest_cursor(world)  # first: what happens meanwhile lies beyond it
    items = tuple(await (_detected if _asks_for_detections(wanted) else _happened)(world, wanted, after, now))
    has_more = after is not None and len(items) == wanted.limit
    given = filters(**{name: getattr(wanted, name) for name in wanted.__struct_fields__ if name != "limit"})
    summary = EventsSummary(events=len(items), by_kind=counts(one.kind for one in items))
    cursor = max(after or 0, int(items[-1].cursor) if items else 0, 0 if has_more else reached)
    told = str(cursor) if cursor else wanted.since_cursor
    return EventListing(generated_at=iso(now), filters=given, summary=summary, items=items, cursor=told)


def _asks_for_detections(wanted: ListEvents) -> bool:
    chosen = (wanted.type, wanted.rule, wanted.agent, wanted.severity)
    if wanted.dry_run and not wanted.would_handle:
        raise BadRequest("--dry-run goes with --would-handle", hint="Listing events never does anything.")
    is_asked = wanted.unhandled or wanted.would_handle or any(one is not None for one in chosen)
    if is_asked and wanted.kind is not None:
        raise BadRequest("--kind goes with no filter for detections", hint="--type chooses the type of a detection.")
    return is_asked


async def _happened(world: World, wanted: ListEvents, after: int | None, now: int) -> list[EventItem]:
    events = await world.history.events(
        after=after,
        pane=await named_id(world, wanted.pane),
        since=moment(wanted.since, now),
        kind=wanted.kind,
        limit=wanted.limit,
    )
    return await items_of(world, events)


async def _detected(world: World, wanted: ListEvents, after: int | None, now: int) -> list[EventItem]:
    if after is not None:
        await world.history.events(after=after, limit=1)  # a foreign cursor is refused
    only = DetectionFilter(
        type=wanted.type,
        rule=wanted.rule,
        agent=wanted.agent,
        severity=wanted.severity,
        pane=await named_id(world, wanted.pane),
        since=moment(wanted.since, now),
        is_unhandled=wanted.unhandled,
        after=after,
        limit=wanted.limit,
    )
    found = await world.detections.list(only)
    if not found:
        await check_filters(world, wanted.rule, wanted.agent)
    return [detected_item(one, world.runs.answering(one) if wanted.would_handle else None) for one in found]


async def check_filters(world: World, rule: str | None, agent: str | None) -> None:
    """`BadRequest` for names that nobody has: of them nothing will ever be found."""
    if rule is not None and not any(sign in rule for sign in "*?["):
        check_name(rule, world.detections.rules.values())
    if agent is not None:
        await check_agent(world, agent)


def detected_item(one: Detection, workflow: str | None = None) -> EventItem:
    event = Event(id=one.event, at=one.at, kind=one.type, pane=one.pane, data=one.told)
    return item(event, one, workflow)


async def items_of(world: World, events: Sequence[Event]) -> list[EventItem]:
    """Events with what rules and agents know of them."""
    known = await world.detections.some([event.id for event in events if may_be_detection(event.kind)])
    return [item(event, known.get(event.id)) for event in events]


def may_be_detection(kind: str) -> bool:
    return "." in kind or kind == "user_var"


async def newest_cursor(world: World) -> int:
    """Of the newest event there is; 0 where there is none."""
    newest = await world.history.events(limit=1)
    return newest[-1].id if newest else 0


def item(event: Event, detection: Detection | None = None, workflow: str | None = None) -> EventItem:
    return EventItem(
        cursor=str(event.id),
        at=iso(event.at),
        kind=event.kind,
        pane=event.pane,
        data=event.data,
        detection=None if detection is None else detection_item(detection, workflow),
    )


def event_cursor(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InvalidCursor(f"{text!r} is not a cursor of the event stream", details={"oldest": "0"})
    return int(text)


def check_kind(kind: str | None) -> None:
    known = {**EVENT_KINDS, **EVENT_TYPES}
    if kind is not None and kind not in known and not is_event_type(kind):
        near = nearest(kind, list(known))
        hint = f"Did you mean {near[0]}?" if near else "`docs/reference/events.md` lists them."
        raise BadRequest(f"there is no event kind {kind!r}", hint=hint, details={"kinds": list(known)})


def _what(one: EventItem) -> str:
    found = one.detection
    if found is None:
        return told(one.data)
    again = f"seen {found.seen_again + 1} times" if found.seen_again else ""
    seen_to = f"handled by {found.handled.by}" if found.handled is not None else ""
    would = f"-> {found.remedy}" if found.remedy else ""
    unproven = "" if found.proven else "not proven"
    captures = " ".join(f"{name}={value}" for name, value in found.captures.items())
    parts = (found.severity, found.rule, captures, again, unproven, seen_to, would)
    return "  ".join(part for part in parts if part)


COLUMNS = (
    Column("CURSOR", lambda event: event.cursor, is_right=True),
    Column("AT", lambda event: event.at, style="dim"),
    Column("PANE", lambda event: str(event.pane or "-"), is_right=True),
    Column("KIND", lambda event: event.kind, style="bold"),
    Column("WHAT", _what, may_shrink=True),
)


def told(data: dict[str, Scalar]) -> str:
    """`cause=pipe_stolen seconds=3`."""
    return " ".join(f"{name}={value}" for name, value in data.items())


def plain(listing: EventListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    return f"{rows}\n\n{counted(listing.summary.events, 'event')}" if listing.items else "No events."


OP = Op(
    name="list_events",
    aliases=("events",),
    robot="events",
    summary="The newest events: what rules found, panes that came and went, gaps, restarts.",
    doc="""A bounded list, oldest first. `cursor` is where to go on; `watch-events --since-cursor` follows from there.
The kinds are listed in the events reference.

What a rule found in a pane, and what an agent told of itself, is a detection: its event also says which rule, how
severe, what was captured, where, how often it was seen again within its cooldown, and who saw to it. `--unhandled`,
`--type`, `--rule`, `--agent`, `--severity` and `--would-handle` list detections only. `visor events ack` says that you
saw to one, `visor events mute` that you need not be told, `visor explain event:<cursor>` why it was found.""",
    Input=ListEvents,
    Output=EventListing,
    run=run,
    plain=plain,
    examples=(
        Example("events", "the newest 20"),
        Example("events --kind gap_recorded --since today", "today's gaps"),
        Example("events --unhandled --severity warning", "what somebody should see to"),
        Example("events --type 'usage.*' --agent codex --would-handle", "and which workflow answers it"),
        Example("robot events --since-cursor 120", "what happened after event 120, as JSON"),
    ),
)
