"""The op `reserve`: have a pane for oneself for a while."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.approval import Reservation
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.render.text import RenderOptions, format_age, sanitize
from termvisor.redaction import redact


class ReserveArgs(Struct, frozen=True, kw_only=True):
    """Which pane, for whom and for how long."""

    pane: PaneReference
    owner: Annotated[
        str, Meta(description="Who holds it; `send --owner` says the same. Empty: who calls.", max_length=200)
    ] = ""
    ttl_secs: Annotated[float, Meta(description="For so many seconds.", gt=0, le=86_400)] = 900.0


class ReservationItem(Struct, frozen=True, kw_only=True):
    """``left`` are the seconds until it ends by itself."""

    reservation_id: int
    pane: int
    owner: str
    reserved_at: str
    expires_at: str
    left: float


def build_reservation_item(reservation: Reservation, now: int) -> ReservationItem:
    return ReservationItem(
        reservation_id=reservation.id,
        pane=reservation.pane,
        owner=redact(reservation.owner),
        reserved_at=format_timestamp(reservation.at),
        expires_at=format_timestamp(reservation.expires_at),
        left=max(0.0, compute_seconds_between(now, reservation.expires_at)),
    )


async def run(services: ActingServices, args: ReserveArgs) -> ReservationItem:
    pane = await resolve_pane(services, args.pane)
    actor = services.gate.actor
    owner = args.owner or actor.name or f"{actor.kind}:{actor.uid}"
    held = await services.gate.reservations.reserve(pane.id, owner, args.ttl_secs)
    return build_reservation_item(held, services.clock.now())


def render_text(result: ReservationItem, options: RenderOptions) -> str:
    if options.is_quiet:
        return str(result.reservation_id)
    text = f"reservation {result.reservation_id}: pane {result.pane} is reserved for {result.owner}, {format_age(result.left)}"
    return sanitize(f"{text}; act with --owner {result.owner}")


OP = Operation(
    name="reserve",
    robot_name="reserve",
    summary="Have a pane for yourself for a while.",
    doc="""Until it is released or its time is over, nothing is done in that pane but by callers who give the same
`--owner`; everybody else gets `reserved`. It binds all who come through Termvisor, not a person at the keyboard. Its
owner may reserve again to make it longer.""",
    args_type=ReserveArgs,
    result_type=ReservationItem,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=((75, "Somebody else holds it."),),
    examples=(
        OperationExample("reserve 7 --owner alice", "for fifteen minutes"),
        OperationExample("robot reserve 7 --owner fix-42 --ttl-secs 60", "for a minute, as JSON"),
    ),
)
