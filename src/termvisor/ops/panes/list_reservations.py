"""Operation `list_reservations`: list the active pane reservations."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes.reserve import ReservationItem, build_reservation_item
from termvisor.ops.render.results import BaseListing, render_listing
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import format_age


class ListReservationsArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class ReservationsSummary(Struct, frozen=True, kw_only=True):
    reservations: int


class ReservationListing(BaseListing, frozen=True, kw_only=True):
    """Active reservations, oldest first."""

    summary: ReservationsSummary
    items: tuple[ReservationItem, ...]


async def run(services: Services, _args: ListReservationsArgs) -> ReservationListing:
    now = services.clock.now()
    items = tuple(build_reservation_item(item, now) for item in await services.gate.reservations.list())
    summary = ReservationsSummary(reservations=len(items))
    return ReservationListing(generated_at=format_timestamp(now), summary=summary, items=items)


COLUMNS = (
    TableColumn("ID", lambda item: str(item.reservation_id), is_right_aligned=True, style="bold"),
    TableColumn("PANE", lambda item: str(item.pane), is_right_aligned=True),
    TableColumn("OWNER", lambda item: item.owner, can_shrink=True, style="cyan"),
    TableColumn("LEFT", lambda item: format_age(item.left), is_right_aligned=True),
)

OP = Operation(
    name="list_reservations",
    aliases=("reservations",),
    summary="List reserved panes with their owners and remaining time.",
    doc="`reserve` creates a reservation; it ends by `release` or when its time is over.",
    run=run,
    render_text=lambda result, options: render_listing(COLUMNS, result.items, options, empty="No reservations."),
    examples=(OperationExample("reservations", "list all reservations"),),
)
