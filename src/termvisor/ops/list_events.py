"""The op `list_events`: the newest stored facts about the fleet."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest, InvalidCursor
from termvisor.model.event import EVENT_KINDS, Event, Scalar
from termvisor.ops.arguments import nearest
from termvisor.ops.base import Example, Op
from termvisor.ops.listing import Listing, PaneFilter, counts, filters, moment, named_id
from termvisor.ops.look import Column, Look, counted, table
from termvisor.ops.world import World

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


class EventItem(Struct, frozen=True, kw_only=True):
    """``cursor`` names this event; what comes after it is found by giving it back."""

    cursor: str
    at: str
    kind: str
    pane: int | None
    data: dict[str, Scalar]


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
    after = None if wanted.since_cursor is None else event_cursor(wanted.since_cursor)
    reached = await newest_cursor(world)  # first: what happens meanwhile lies beyond it
    events = await world.history.events(
        after=after,
        pane=await named_id(world, wanted.pane),
        since=moment(wanted.since, now),
        kind=wanted.kind,
        limit=wanted.limit,
    )
    items = tuple(item(event) for event in events)
    has_more = after is not None and len(events) == wanted.limit
    given = filters(pane=wanted.pane, kind=wanted.kind, since=wanted.since, since_cursor=wanted.since_cursor)
    summary = EventsSummary(events=len(items), by_kind=counts(event.kind for event in events))
    cursor = max(after or 0, events[-1].id if events else 0, 0 if has_more else reached)
    told = str(cursor) if cursor else wanted.since_cursor
    return EventListing(generated_at=iso(now), filters=given, summary=summary, items=items, cursor=told)


async def newest_cursor(world: World) -> int:
    """Of the newest event there is; 0 where there is none."""
    newest = await world.history.events(limit=1)
    return newest[-1].id if newest else 0


def item(event: Event) -> EventItem:
    return EventItem(cursor=str(event.id), at=iso(event.at), kind=event.kind, pane=event.pane, data=event.data)


def event_cursor(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InvalidCursor(f"{text!r} is not a cursor of the event stream", details={"oldest": "0"})
    return int(text)


def check_kind(kind: str | None) -> None:
    if kind is not None and kind not in EVENT_KINDS:
        near = nearest(kind, list(EVENT_KINDS))
        hint = f"Did you mean {near[0]}?" if near else "`docs/reference/events.md` lists them."
        raise BadRequest(f"there is no event kind {kind!r}", hint=hint, details={"kinds": list(EVENT_KINDS)})


COLUMNS = (
    Column("CURSOR", lambda event: event.cursor, is_right=True),
    Column("AT", lambda event: event.at, style="dim"),
    Column("PANE", lambda event: str(event.pane or "-"), is_right=True),
    Column("KIND", lambda event: event.kind, style="bold"),
    Column("WHAT", lambda event: told(event.data), may_shrink=True),
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
    summary="The newest events: panes that came and went, gaps, restarts.",
    doc="""A bounded list, oldest first. `cursor` is where to go on; `watch-events --since-cursor` follows from there.
The kinds are listed in the events reference.""",
    Input=ListEvents,
    Output=EventListing,
    run=run,
    plain=plain,
    examples=(
        Example("events", "the newest 20"),
        Example("events --kind gap_recorded --since today", "today's gaps"),
        Example("robot events --since-cursor 120", "what happened after event 120, as JSON"),
    ),
)
