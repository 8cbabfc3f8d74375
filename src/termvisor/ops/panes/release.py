"""The op `release`: end a reservation."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions


class ReleaseArgs(Struct, frozen=True, kw_only=True):
    """Which reservation."""

    id: Annotated[int, Meta(description="The number that `reserve` gave.", extra={"positional": "one"}, ge=1)]


class ReleaseResult(Struct, frozen=True, kw_only=True):
    reservation_id: int


async def run(services: ActingServices, args: ReleaseArgs) -> ReleaseResult:
    if not await services.gate.reservations.release(args.id):
        raise BadRequest(f"no reservation {args.id} holds", hint="`visor reservations` lists them.")
    return ReleaseResult(reservation_id=args.id)


def render_text(result: ReleaseResult, options: RenderOptions) -> str:
    return f"reservation {result.reservation_id} has ended"


OP = Operation(
    name="release",
    robot_name="release",
    summary="End a reservation.",
    doc="Anybody who may call Termvisor may end any reservation: it keeps programs apart, it locks nobody out.",
    args_type=ReleaseArgs,
    result_type=ReleaseResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(OperationExample("release 3", "the pane is free again"),),
)
