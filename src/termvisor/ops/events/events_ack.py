"""The op `events_ack`: somebody saw to a detection."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, EventNotFound
from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.model.ids import EventId
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import DetectionItem, build_detection_item
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class EventsAckArgs(Struct, frozen=True, kw_only=True):
    """Which events, and what you did."""

    ids: Annotated[
        tuple[str, ...],
        Meta(description="Their cursors, as `visor events` shows them.", min_length=1, extra={"positional": "rest"}),
    ]
    note: Annotated[str, Meta(description="What you did, for those who ask later.", max_length=500)] = ""
    dry_run: Annotated[bool, Meta(description="Only say what would be marked.")] = False


class EventAckItem(Struct, frozen=True, kw_only=True):
    """``status`` is `already` where somebody was faster; what they did stands."""

    cursor: str
    kind: str
    status: Literal["handled", "already", "would_be"]
    detection: DetectionItem


class EventsAckResult(Struct, frozen=True, kw_only=True):
    items: tuple[EventAckItem, ...]


async def run(services: ActingServices, args: EventsAckArgs) -> EventsAckResult:
    found = [await find_detection(services, text) for text in dict.fromkeys(args.ids)]
    handling = DetectionHandling(
        at=services.clock.now(), by=format_caller(services.gate.actor), action=redact(args.note)
    )
    return EventsAckResult(
        items=tuple([await _acknowledge(services, one, handling, is_dry=args.dry_run) for one in found])
    )


async def find_detection(services: Services, text: str) -> Detection:
    """The detection of that cursor, also spelled `event:12`."""
    digits = text.removeprefix("event:")
    if not (digits.isascii() and digits.isdecimal()):
        raise BadRequest(f"{text!r} is no event", hint="Name one by its cursor, as `visor events` shows it: 120.")
    number = int(digits)
    found = (await services.detections.find_by_events([EventId(number)])).get(EventId(number))
    if found is None:
        raise EventNotFound(f"event {number} is not a detection, or is no longer kept", details={"event": number})
    return found


def format_caller(actor: Actor) -> str:
    """`person:1000`; a program by its name, where it has one."""
    kind = "person" if actor.kind == "human" else actor.kind
    return redact(f"{kind}:{actor.name or actor.uid}")


async def _acknowledge(
    services: ActingServices, detection: Detection, handling: DetectionHandling, *, is_dry: bool
) -> EventAckItem:
    if detection.handling is not None:
        return _build_item(detection, "already")
    if is_dry:
        return _build_item(detection, "would_be")
    stands = await services.detections.mark_handled(detection.event, handling)
    known = await services.detections.find_by_events([detection.event])
    return _build_item(known.get(detection.event, detection), "handled" if stands == handling else "already")


def _build_item(detection: Detection, status: Literal["handled", "already", "would_be"]) -> EventAckItem:
    return EventAckItem(
        cursor=str(detection.event), kind=detection.type, status=status, detection=build_detection_item(detection)
    )


def render_text(result: EventsAckResult, options: RenderOptions) -> str:
    return "\n".join(sanitize(_format_item(one)) for one in result.items)


def _format_item(ack_item: EventAckItem) -> str:
    done = ack_item.detection.handled
    if ack_item.status == "already" and done is not None:
        return f"event {ack_item.cursor} ({ack_item.kind}) was handled already, by {done.by} at {done.at}"
    return f"event {ack_item.cursor} ({ack_item.kind}) {'is handled' if ack_item.status == 'handled' else 'would be handled'}"


OP = Operation(
    name="events_ack",
    summary="Say that you saw to what was detected.",
    doc="""From then on it counts as handled: `events --unhandled` leaves it out, and no workflow begins because of it.
Who was first stands; saying it twice changes nothing. Nothing is typed anywhere.""",
    args_type=EventsAckArgs,
    result_type=EventsAckResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=((4, "There is no such detection."),),
    examples=(
        OperationExample("events ack 120", "seen to"),
        OperationExample("events ack 120 121 --note 'logged in by hand'", "both, with what you did"),
    ),
)
