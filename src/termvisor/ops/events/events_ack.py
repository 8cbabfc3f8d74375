"""The op `events_ack`: somebody saw to a detection."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, NoSuchEvent
from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection, Handling
from termvisor.model.ids import EventId
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.events._detection_item import DetectionItem, detection_item
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact


class EventsAck(Struct, frozen=True, kw_only=True):
    """Which events, and what you did."""

    ids: Annotated[
        tuple[str, ...],
        Meta(description="Their cursors, as `visor events` shows them.", min_length=1, extra={"positional": "rest"}),
    ]
    note: Annotated[str, Meta(description="What you did, for those who ask later.", max_length=500)] = ""
    dry_run: Annotated[bool, Meta(description="Only say what would be marked.")] = False


class AckItem(Struct, frozen=True, kw_only=True):
    """``status`` is `already` where somebody was faster; what they did stands."""

    cursor: str
    kind: str
    status: Literal["handled", "already", "would_be"]
    detection: DetectionItem


class Acked(Struct, frozen=True, kw_only=True):
    items: tuple[AckItem, ...]


async def run(world: ActingWorld, wanted: EventsAck) -> Acked:
    found = [await detected(world, text) for text in dict.fromkeys(wanted.ids)]
    handling = Handling(at=world.clock.now(), by=caller(world.door.actor), action=redact(wanted.note))
    return Acked(items=tuple([await _acked(world, one, handling, is_dry=wanted.dry_run) for one in found]))


async def detected(world: World, text: str) -> Detection:
    """The detection of that cursor, also spelled `event:12`."""
    digits = text.removeprefix("event:")
    if not (digits.isascii() and digits.isdecimal()):
        raise BadRequest(f"{text!r} is no event", hint="Name one by its cursor, as `visor events` shows it: 120.")
    number = int(digits)
    found = (await world.detections.some([EventId(number)])).get(EventId(number))
    if found is None:
        raise NoSuchEvent(f"event {number} is not a detection, or is no longer kept", details={"event": number})
    return found


def caller(actor: Actor) -> str:
    """`person:1000`; a program by its name, where it has one."""
    kind = "person" if actor.kind == "human" else actor.kind
    return redact(f"{kind}:{actor.name or actor.uid}")


async def _acked(world: ActingWorld, one: Detection, handling: Handling, *, is_dry: bool) -> AckItem:
    if one.handling is not None:
        return _item(one, "already")
    if is_dry:
        return _item(one, "would_be")
    stands = await world.detections.handle(one.event, handling)
    known = await world.detections.some([one.event])
    return _item(known.get(one.event, one), "handled" if stands == handling else "already")


def _item(one: Detection, status: Literal["handled", "already", "would_be"]) -> AckItem:
    return AckItem(cursor=str(one.event), kind=one.type, status=status, detection=detection_item(one))


def plain(acked: Acked, look: Look) -> str:
    return "\n".join(clean(_line(one)) for one in acked.items)


def _line(one: AckItem) -> str:
    done = one.detection.handled
    if one.status == "already" and done is not None:
        return f"event {one.cursor} ({one.kind}) was handled already, by {done.by} at {done.at}"
    return f"event {one.cursor} ({one.kind}) {'is handled' if one.status == 'handled' else 'would be handled'}"


OP = Op(
    name="events_ack",
    summary="Say that you saw to what was detected.",
    doc="""From then on it counts as handled: `events --unhandled` leaves it out, and no workflow begins because of it.
Who was first stands; saying it twice changes nothing. Nothing is typed anywhere.""",
    Input=EventsAck,
    Output=Acked,
    run=run,
    plain=plain,
    effect="change",
    exits=((4, "There is no such detection."),),
    examples=(
        Example("events ack 120", "seen to"),
        Example("events ack 120 121 --note 'logged in by hand'", "both, with what you did"),
    ),
)
