"""The op `revoke_permit`: take a lasting allowance back."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions


class RevokePermitArgs(Struct, frozen=True, kw_only=True):
    """Which permit."""

    id: Annotated[int, Meta(description="Its number in `visor permits`.", extra={"positional": "one"}, ge=1)]


class RevokePermitResult(Struct, frozen=True, kw_only=True):
    permit_id: int


async def run(services: ActingServices, args: RevokePermitArgs) -> RevokePermitResult:
    if not await services.gate.approvals.revoke_permit(args.id):
        raise BadRequest(f"no permit {args.id} holds", hint="`visor permits` lists them.")
    return RevokePermitResult(permit_id=args.id)


def render_text(result: RevokePermitResult, options: RenderOptions) -> str:
    return f"permit {result.permit_id} no longer holds"


OP = Operation(
    name="revoke_permit",
    summary="Take a lasting permit back.",
    doc="From now on the caller's actions are asked about again.",
    args_type=RevokePermitArgs,
    result_type=RevokePermitResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(OperationExample("revoke-permit 2", "it no longer holds"),),
)
