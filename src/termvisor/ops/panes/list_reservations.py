"""The op `list_reservations`: who has which pane for themselves."""

from msgspec import Struct

from termvisor.clock import iso
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.panes._listing import Listing
from termvisor.ops.panes.reserve import Reserved, told
from termvisor.ops.render.text import Column, Look, age, table


class ListReservations(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ReservationsSummary(Struct, frozen=True, kw_only=True):
    reservations: int


class ReservationListing(Listing, frozen=True, kw_only=True):
    """Reservations that hold, oldest first."""

    summary: ReservationsSummary
    items: tuple[Reserved, ...]


async def run(world: ActingWorld, _wanted: ListReservations) -> ReservationListing:
    now = world.clock.now()
    items = tuple(told(one, now) for one in await world.door.reservations.list())
    summary = ReservationsSummary(reservations=len(items))
    return ReservationListing(generated_at=iso(now), summary=summary, items=items)


COLUMNS = (
    Column("ID", lambda one: str(one.reservation_id), is_right=True, style="bold"),
    Column("PANE", lambda one: str(one.pane), is_right=True),
    Column("OWNER", lambda one: one.owner, may_shrink=True, style="cyan"),
    Column("LEFT", lambda one: age(one.left), is_right=True),
)


def plain(listing: ReservationListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    return rows if rows or look.is_quiet else "No pane is reserved."


OP = Op(
    name="list_reservations",
    aliases=("reservations",),
    summary="Who has which pane for themselves, and for how long.",
    doc="`reserve` makes one, `release` ends it, and so does its time.",
    Input=ListReservations,
    Output=ReservationListing,
    run=run,
    plain=plain,
    examples=(Example("reservations", "all that hold"),),
)
