"""Operation `release`: end a pane reservation."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions


class ReleaseArgs(Struct, frozen=True, kw_only=True):
    """The reservation to end."""

    id: Annotated[int, Meta(description="Id of the reservation, from `reserve`.", extra={"positional": "one"}, ge=1)]


class ReleaseResult(Struct, frozen=True, kw_only=True):
    reservation_id: int


async def run(services: ActingServices, args: ReleaseArgs) -> ReleaseResult:
    if not await services.gate.reservations.release(args.id):
        raise BadRequest(f"reservation {args.id} not found", hint="`visor reservations` lists active reservations.")
    return ReleaseResult(reservation_id=args.id)


def render_text(result: ReleaseResult, options: RenderOptions) -> str:
    return f"reservation {result.reservation_id} released"


OP = Operation(
    name="release",
    robot_name="release",
    summary="End a pane reservation.",
    doc="Every caller may end every reservation: reservations coordinate programs, they are not access control.",
    args_type=ReleaseArgs,
    result_type=ReleaseResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(OperationExample("release 3", "release reservation 3"),),
)
