"""The op `release`: end a reservation."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.render.text import Look


class Release(Struct, frozen=True, kw_only=True):
    """Which reservation."""

    id: Annotated[int, Meta(description="The number that `reserve` gave.", extra={"positional": "one"}, ge=1)]


class Released(Struct, frozen=True, kw_only=True):
    reservation_id: int


async def run(world: ActingWorld, wanted: Release) -> Released:
    if not await world.door.reservations.release(wanted.id):
        raise BadRequest(f"no reservation {wanted.id} holds", hint="`visor reservations` lists them.")
    return Released(reservation_id=wanted.id)


def plain(released: Released, look: Look) -> str:
    return f"reservation {released.reservation_id} has ended"


OP = Op(
    name="release",
    robot="release",
    summary="End a reservation.",
    doc="Anybody who may call Termvisor may end any reservation: it keeps programs apart, it locks nobody out.",
    Input=Release,
    Output=Released,
    run=run,
    plain=plain,
    effect="change",
    examples=(Example("release 3", "the pane is free again"),),
)
