"""The operation `revoke_permit`: revoke a permit."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.text import RenderOptions


class RevokePermitArgs(Struct, frozen=True, kw_only=True):
    """Choose the permit."""

    id: Annotated[int, Meta(description="The permit's ID in `visor permits`.", extra={"positional": "one"}, ge=1)]


class RevokePermitResult(Struct, frozen=True, kw_only=True):
    permit_id: int


async def run(services: ActingServices, args: RevokePermitArgs) -> RevokePermitResult:
    if not await services.gate.approvals.revoke_permit(args.id):
        raise BadRequest(f"permit {args.id} not found", hint="`visor permits` lists the permits in force.")
    return RevokePermitResult(permit_id=args.id)


def render_text(result: RevokePermitResult, options: RenderOptions) -> str:
    return f"permit {result.permit_id} revoked"


OP = Operation(
    name="revoke_permit",
    summary="Revoke a permit.",
    doc="From now on these actions of the caller require approval again.",
    args_type=RevokePermitArgs,
    result_type=RevokePermitResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(OperationExample("revoke-permit 2", "revoke permit 2"),),
)
