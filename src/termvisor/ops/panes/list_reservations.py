"""The op `list_reservations`: who has which pane for themselves."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.panes._listing import BaseListing
from termvisor.ops.panes.reserve import ReservationItem, build_reservation_item
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, render_table


class ListReservationsArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ReservationsSummary(Struct, frozen=True, kw_only=True):
    reservations: int


class ReservationListing(BaseListing, frozen=True, kw_only=True):
    """Reservations that hold, oldest first."""

    summary: ReservationsSummary
    items: tuple[ReservationItem, ...]


async def run(services: ActingServices, _args: ListReservationsArgs) -> ReservationListing:
    now = services.clock.now()
    items = tuple(build_reservation_item(one, now) for one in await services.gate.reservations.list())
    summary = ReservationsSummary(reservations=len(items))
    return ReservationListing(generated_at=format_timestamp(now), summary=summary, items=items)


COLUMNS = (
    TableColumn("ID", lambda one: str(one.reservation_id), is_right_aligned=True, style="bold"),
    TableColumn("PANE", lambda one: str(one.pane), is_right_aligned=True),
    TableColumn("OWNER", lambda one: one.owner, can_shrink=True, style="cyan"),
    TableColumn("LEFT", lambda one: format_age(one.left), is_right_aligned=True),
)


def render_text(result: ReservationListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    return rows if rows or options.is_quiet else "No pane is reserved."


OP = Operation(
    name="list_reservations",
    aliases=("reservations",),
    summary="Who has which pane for themselves, and for how long.",
    doc="`reserve` makes one, `release` ends it, and so does its time.",
    args_type=ListReservationsArgs,
    result_type=ReservationListing,
    run=run,
    render_text=render_text,
    examples=(OperationExample("reservations", "all that hold"),),
)
