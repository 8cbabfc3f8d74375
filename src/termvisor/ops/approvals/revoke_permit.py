"""The op `revoke_permit`: take a lasting allowance back."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.render.text import Look


class RevokePermit(Struct, frozen=True, kw_only=True):
    """Which permit."""

    id: Annotated[int, Meta(description="Its number in `visor permits`.", extra={"positional": "one"}, ge=1)]


class RevokedPermit(Struct, frozen=True, kw_only=True):
    permit_id: int


async def run(world: ActingWorld, wanted: RevokePermit) -> RevokedPermit:
    if not await world.door.inbox.revoke(wanted.id):
        raise BadRequest(f"no permit {wanted.id} holds", hint="`visor permits` lists them.")
    return RevokedPermit(permit_id=wanted.id)


def plain(revoked: RevokedPermit, look: Look) -> str:
    return f"permit {revoked.permit_id} no longer holds"


OP = Op(
    name="revoke_permit",
    summary="Take a lasting permit back.",
    doc="From now on the caller's actions are asked about again.",
    Input=RevokePermit,
    Output=RevokedPermit,
    run=run,
    plain=plain,
    effect="change",
    examples=(Example("revoke-permit 2", "it no longer holds"),),
)
