"""The op `events_unmute`: end a mute."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NoSuchEvent
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.render.text import Look


class EventsUnmute(Struct, frozen=True, kw_only=True):
    """Which one."""

    id: Annotated[int, Meta(description="Its number in `visor events mutes`.", extra={"positional": "one"}, ge=1)]


class Unmuted(Struct, frozen=True, kw_only=True):
    mute_id: int


async def run(world: ActingWorld, wanted: EventsUnmute) -> Unmuted:
    if not await world.detections.mutes.end(wanted.id):
        raise NoSuchEvent(f"there is no mute {wanted.id}", hint="`visor events mutes` lists them.")
    return Unmuted(mute_id=wanted.id)


def plain(done: Unmuted, look: Look) -> str:
    return f"mute {done.mute_id} has ended"


OP = Op(
    name="events_unmute",
    summary="End a mute.",
    doc="What is found from now on counts as unhandled again; what was found meanwhile stays handled.",
    Input=EventsUnmute,
    Output=Unmuted,
    run=run,
    plain=plain,
    effect="change",
    exits=((4, "There is no such mute."),),
    examples=(Example("events unmute 3", "be told again"),),
)
