"""Operation `reserve`: reserve a pane for one owner for a limited time."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.model.action.action import get_default_owner
from termvisor.model.action.approval import Reservation
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.results import compute_remaining
from termvisor.ops.render.text import RenderOptions, format_age, sanitize
from termvisor.redaction import redact


class ReserveArgs(Struct, frozen=True, kw_only=True):
    """The pane, the owner and the duration."""

    pane: PaneReference
    owner: Annotated[
        str,
        Meta(description="Name of the owner, to pass as `--owner` to actions. Default: the caller.", max_length=200),
    ] = ""
    ttl_secs: Annotated[float, Meta(description="Duration in seconds.", gt=0, le=86_400)] = 900.0


class ReservationItem(Struct, frozen=True, kw_only=True):
    """``left`` is the number of seconds until it expires. ``is_own``: the caller may act without `--owner`."""

    detail_fields: ClassVar[tuple[str, ...]] = ("reserved_at", "expires_at")

    reservation_id: int
    pane: int
    owner: str
    reserved_at: str
    expires_at: str
    left: float
    is_own: bool = False


def build_reservation_item(reservation: Reservation, now: int) -> ReservationItem:
    return ReservationItem(
        reservation_id=reservation.id,
        pane=reservation.pane,
        owner=redact(reservation.owner),
        reserved_at=format_timestamp(reservation.at),
        expires_at=format_timestamp(reservation.expires_at),
        left=compute_remaining(reservation.expires_at, now),
    )


async def run(services: Services, args: ReserveArgs) -> ReservationItem:
    pane = await resolve_pane(services, args.pane)
    owner = args.owner or get_default_owner(services.gate.actor)
    reservation = await services.gate.reservations.reserve(pane.id, owner, args.ttl_secs)
    item = build_reservation_item(reservation, services.clock.now())
    return replace(item, is_own=owner == get_default_owner(services.gate.actor))


def render_text(result: ReservationItem, options: RenderOptions) -> str:
    if options.is_quiet:
        return str(result.reservation_id)
    text = f"pane {result.pane} reserved for {result.owner} for {format_age(result.left)}"
    how = "you may act as usual" if result.is_own else f"act with --owner {result.owner}"
    return sanitize(f"{text} (reservation {result.reservation_id}); {how}")


OP = Operation(
    name="reserve",
    robot_name="reserve",
    summary="Reserve a pane for one owner for a limited time.",
    doc="""Until the reservation is released or expires, actions on the pane are executed only for the caller who
reserved it without a name, or for callers that pass the same `--owner`; others get the error `reserved`. A person may
act anyway with `--override-reservation`, which is logged. It applies to actions through Termvisor, not to a user at the
keyboard. The owner may reserve again to extend it.""",
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=((75, "Another owner holds the pane."),),
    examples=(
        OperationExample("reserve 7 --owner alice", "reserve pane 7 for 15 minutes"),
        OperationExample("robot reserve 7 --owner fix-42 --ttl-secs 60", "reserve it for one minute, as JSON"),
    ),
)
