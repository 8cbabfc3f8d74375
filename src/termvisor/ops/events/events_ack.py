"""The operation `events_ack`: mark detections as handled."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.model.action.action import UpdateRecords
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import DetectionItem, build_detection_item, find_detection, format_caller
from termvisor.ops.render.text import RenderOptions, format_moment, sanitize
from termvisor.redaction import redact

AckStatus = Literal["handled", "already", "would_be"]


class EventsAckArgs(Struct, frozen=True, kw_only=True):
    """Choose the events, and add a note."""

    ids: Annotated[
        tuple[str, ...],
        Meta(description="Cursors of the events, as in `visor events`.", min_length=1, extra={"positional": "rest"}),
    ]
    note: Annotated[str, Meta(description="What you did about it.", max_length=500)] = ""
    dry_run: Annotated[bool, Meta(description="Only show what would be marked.")] = False


class EventAckItem(Struct, frozen=True, kw_only=True):
    """``status`` is `already` if it was handled before; the first handling is kept."""

    cursor: str
    kind: str
    status: AckStatus
    detection: DetectionItem


class EventsAckResult(Struct, frozen=True, kw_only=True):
    items: tuple[EventAckItem, ...]


async def run(services: Services, args: EventsAckArgs) -> EventsAckResult:
    detections = [await find_detection(services, text) for text in dict.fromkeys(args.ids)]
    handling = DetectionHandling(
        at=services.clock.now(), by=format_caller(services.gate.actor), action=redact(args.note)
    )
    return EventsAckResult(
        items=tuple([await _acknowledge(services, item, handling, is_dry=args.dry_run) for item in detections])
    )


async def _acknowledge(
    services: Services, detection: Detection, handling: DetectionHandling, *, is_dry: bool
) -> EventAckItem:
    if detection.handling is not None:
        return _build_item(detection, "already")
    if is_dry:
        return _build_item(detection, "would_be")
    stored = await services.detections.mark_handled(detection.event, handling)
    current = await services.detections.find_by_events([detection.event])
    # A workflow may have handled it since it was read: the store keeps the first handling and returns it.
    return _build_item(current.get(detection.event, detection), "handled" if stored == handling else "already")


def _build_item(detection: Detection, status: AckStatus) -> EventAckItem:
    return EventAckItem(
        cursor=str(detection.event), kind=detection.type, status=status, detection=build_detection_item(detection)
    )


def _format_item(item: EventAckItem, options: RenderOptions) -> str:
    handling, event = item.detection.handled, f"event {item.cursor} ({item.kind})"
    if item.status == "already" and handling is not None:
        return f"{event} was already handled by {handling.by} {format_moment(handling.at, options)}"
    return f"{event} {'marked' if item.status == 'handled' else 'would be marked'} as handled"


def _list_changes(_services: Services, args: EventsAckArgs) -> tuple[UpdateRecords, ...]:
    change = UpdateRecords(change="acknowledge", name=" ".join(args.ids), value=args.note)
    return () if args.dry_run else (change,)


OP = Operation(
    name="events_ack",
    summary="Mark detections as handled.",
    doc="""A handled detection is not listed by `events --unhandled` and starts no workflow. The first handling is kept:
marking it again changes nothing. Nothing is sent to any pane.""",
    run=run,
    render_text=lambda result, options: "\n".join(sanitize(_format_item(item, options)) for item in result.items),
    effect="change",
    list_changes=_list_changes,
    exit_statuses=((4, "Detection not found."),),
    examples=(
        OperationExample("events ack 120", "mark one detection"),
        OperationExample("events ack 120 121 --note 'logged in by hand'", "mark both, with a note"),
    ),
)
