"""The operation `revoke_permit`: revoke a permit."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services


class RevokePermitArgs(Struct, frozen=True, kw_only=True):
    """Choose the permit."""

    id: Annotated[int, Meta(description="The permit's ID in `visor permits`.", extra={"positional": "one"}, ge=1)]


class RevokePermitResult(Struct, frozen=True, kw_only=True):
    permit_id: int


async def run(services: Services, args: RevokePermitArgs) -> RevokePermitResult:
    if not await services.gate.approvals.revoke_permit(args.id):
        raise BadRequest(f"permit {args.id} not found", hint="`visor permits` lists the permits in force.")
    return RevokePermitResult(permit_id=args.id)


OP = Operation(
    name="revoke_permit",
    summary="Revoke a permit.",
    doc="From now on these actions of the caller require approval again. A program needs approval.",
    run=run,
    render_text=lambda result, _options: f"permit {result.permit_id} revoked",
    effect="change",
    list_changes=lambda _services, args: (WriteConfig(change="revoke", name=str(args.id)),),
    examples=(OperationExample("revoke-permit 2", "revoke permit 2"),),
)
