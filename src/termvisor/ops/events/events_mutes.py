"""The op `events_mutes`: what counts as handled at once."""

from msgspec import Struct

from termvisor.clock import iso
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.events.events_mute import MuteItem, mute_item
from termvisor.ops.panes._listing import Listing
from termvisor.ops.render.text import Column, Look, table


class EventsMutes(Struct, frozen=True, kw_only=True):
    """All that hold."""


class MutesSummary(Struct, frozen=True, kw_only=True):
    mutes: int


class MuteListing(Listing, frozen=True, kw_only=True):
    """Mutes that hold, oldest first."""

    summary: MutesSummary
    items: tuple[MuteItem, ...]


async def run(world: World, _wanted: EventsMutes) -> MuteListing:
    items = tuple(mute_item(one) for one in await world.detections.mutes.list())
    return MuteListing(generated_at=iso(world.clock.now()), summary=MutesSummary(mutes=len(items)), items=items)


COLUMNS = (
    Column("ID", lambda one: str(one.id), is_right=True, style="bold"),
    Column("WHAT", lambda one: one.what, may_shrink=True),
    Column("PANE", lambda one: "all" if one.pane is None else str(one.pane), is_right=True),
    Column("UNTIL", lambda one: one.until or "-", style="dim"),
    Column("BY", lambda one: one.by, may_shrink=True),
)


def plain(listing: MuteListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    return rows if rows or look.is_quiet else "Nothing is muted."


OP = Op(
    name="events_mutes",
    summary="What is muted.",
    doc="`events mute` begins one, `events unmute` ends it; one with a time ends by itself.",
    Input=EventsMutes,
    Output=MuteListing,
    run=run,
    plain=plain,
    examples=(Example("events mutes", "all that hold"),),
)
