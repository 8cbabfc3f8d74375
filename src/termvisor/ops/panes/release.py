"""Operation `release`: end a pane reservation."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services


class ReleaseArgs(Struct, frozen=True, kw_only=True):
    """The reservation to end."""

    id: Annotated[int, Meta(description="Id of the reservation, from `reserve`.", extra={"positional": "one"}, ge=1)]


class ReleaseResult(Struct, frozen=True, kw_only=True):
    reservation_id: int


async def run(services: Services, args: ReleaseArgs) -> ReleaseResult:
    # An expired reservation is not found either.
    if not await services.gate.reservations.release(args.id):
        raise BadRequest(f"reservation {args.id} not found", hint="`visor reservations` lists active reservations.")
    return ReleaseResult(reservation_id=args.id)


OP = Operation(
    name="release",
    robot_name="release",
    summary="End a pane reservation.",
    doc="Every caller may end every reservation: reservations coordinate programs, they are not access control.",
    run=run,
    render_text=lambda result, _options: f"reservation {result.reservation_id} released",
    effect="change",
    examples=(OperationExample("release 3", "release reservation 3"),),
)
