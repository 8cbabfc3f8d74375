"""The op `reserve`: have a pane for oneself for a while."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.action.approval import Reservation
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._preconditions import PaneReference
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look, age, clean
from termvisor.redaction import redact


class Reserve(Struct, frozen=True, kw_only=True):
    """Which pane, for whom and for how long."""

    pane: PaneReference
    owner: Annotated[
        str, Meta(description="Who holds it; `send --owner` says the same. Empty: who calls.", max_length=200)
    ] = ""
    ttl_secs: Annotated[float, Meta(description="For so many seconds.", gt=0, le=86_400)] = 900.0


class Reserved(Struct, frozen=True, kw_only=True):
    """``left`` are the seconds until it ends by itself."""

    reservation_id: int
    pane: int
    owner: str
    reserved_at: str
    expires_at: str
    left: float


def told(one: Reservation, now: int) -> Reserved:
    return Reserved(
        reservation_id=one.id,
        pane=one.pane,
        owner=redact(one.owner),
        reserved_at=iso(one.at),
        expires_at=iso(one.expires_at),
        left=max(0.0, seconds_between(now, one.expires_at)),
    )


async def run(world: ActingWorld, wanted: Reserve) -> Reserved:
    pane = await named(world, wanted.pane)
    actor = world.door.actor
    owner = wanted.owner or actor.name or f"{actor.kind}:{actor.uid}"
    held = await world.door.reservations.hold(pane.id, owner, wanted.ttl_secs)
    return told(held, world.clock.now())


def plain(held: Reserved, look: Look) -> str:
    if look.is_quiet:
        return str(held.reservation_id)
    text = f"reservation {held.reservation_id}: pane {held.pane} is reserved for {held.owner}, {age(held.left)}"
    return clean(f"{text}; act with --owner {held.owner}")


OP = Op(
    name="reserve",
    robot="reserve",
    summary="Have a pane for yourself for a while.",
    doc="""Until it is released or its time is over, nothing is done in that pane but by callers who give the same
`--owner`; everybody else gets `reserved`. It binds all who come through Termvisor, not a person at the keyboard. Its
owner may reserve again to make it longer.""",
    Input=Reserve,
    Output=Reserved,
    run=run,
    plain=plain,
    effect="change",
    exits=((75, "Somebody else holds it."),),
    examples=(
        Example("reserve 7 --owner alice", "for fifteen minutes"),
        Example("robot reserve 7 --owner fix-42 --ttl-secs 60", "for a minute, as JSON"),
    ),
)
