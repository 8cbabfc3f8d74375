"""Build event and detection items, and parse and check the filters that select them."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, get_args

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest, EventNotFound, InvalidCursor
from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event import EVENT_KINDS, EVENT_TYPES, Event, Scalar, is_event_type
from termvisor.model.ids import EventId
from termvisor.ops.agents._pane_agents import check_agent_name
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields, format_optional_timestamp, format_time_fields
from termvisor.ops.render.text import suggest_name
from termvisor.redaction import redact

TypeFilter = Annotated[
    str | None, Meta(description="Only detections of this type, such as usage.reached, or a glob such as usage.*.")
]
RuleFilter = Annotated[str | None, Meta(description="Only detections of this rule, or a glob.")]
AgentFilter = Annotated[str | None, Meta(description="Only detections about this agent, such as codex.")]
SeverityFilter = Annotated[Severity | None, Meta(description="Only detections of at least this severity.")]
UnhandledFilter = Annotated[bool, Meta(description="Only detections that have not been handled.")]
KindFilter = Annotated[
    str | None, Meta(description="Only this kind, for example gap_recorded.", extra={"names": "event"})
]

# Meaning of detections that come from a signal of the agent instead of a rule.
SIGNAL_DESCRIPTIONS = {
    "signal.usage_limited": "The agent reported that it reached a usage limit.",
    "signal.compacting": "The agent reported that it compacted its conversation.",
    "signal.auth_needed": "The agent reported that it requires a login.",
    "signal.session_ended": "The agent's session ended.",
}


class HandlingItem(Struct, frozen=True, kw_only=True):
    """``by`` is who handled it: `person:1000`, `workflow:handle_compaction`, `mute:usage.*`."""

    at: str
    by: str
    action: str
    run: int | None


class DetectionItem(Struct, frozen=True, kw_only=True):
    """The part of an event that comes from a rule match or an agent signal. ``proven`` is false if any program could
    have printed it: it never starts a workflow. ``remedy`` is the workflow that would handle it now.
    """

    detail_fields: ClassVar[tuple[str, ...]] = (
        *("rule", "agent", "severity", "captures", "source"),  # the event's ``data`` has them as well
        *("runtime", "confidence", "last_seen", "correlation"),
    )

    rule: str
    agent: str
    runtime: int | None
    severity: Severity
    captures: dict[str, str]
    source: str
    confidence: float
    context: str
    seen_again: int = 0
    last_seen: str | None
    correlation: str
    proven: bool
    handled: HandlingItem | None
    remedy: str | None = None


def build_detection_item(detection: Detection, remedy: str | None = None) -> DetectionItem:
    handling = detection.handling
    return copy_fields(
        DetectionItem,
        detection,
        captures={redact(name): redact(value) for name, value in detection.captures.items()},
        context=redact(detection.context),
        last_seen=format_optional_timestamp(detection.last_at),
        proven=detection.can_start_workflow,
        handled=None
        if handling is None
        else HandlingItem(
            at=format_timestamp(handling.at), by=redact(handling.by), action=redact(handling.action), run=handling.run
        ),
        remedy=remedy,
    )


def matches_filter(detection: Detection | None, detection_filter: DetectionFilter) -> bool:
    """Return True if a detection passes the filter; an event without a detection passes only an empty filter."""
    if detection is None:
        return detection_filter == DetectionFilter()
    ranks = get_args(Severity)
    return (
        # The same conditions as in the store's query, for events that are streamed.
        fnmatchcase(detection.type, detection_filter.type or "*")
        and fnmatchcase(detection.rule, detection_filter.rule or "*")
        and detection_filter.agent in (None, detection.agent)
        and ranks.index(detection.severity) >= ranks.index(detection_filter.severity or "info")
        and not (detection_filter.is_unhandled and detection.handling is not None)
    )


def check_rule_or_type(text: str, rules: Iterable[Rule]) -> None:
    """Raise BadRequest if this name or glob matches no active rule and no event type."""
    names = {name for rule in rules for name in (rule.id, rule.event)}
    known = sorted({*names, *EVENT_TYPES, *SIGNAL_DESCRIPTIONS, "user_var"})
    if any(fnmatchcase(name, text) for name in known) or text.startswith("user_var."):
        return
    # Programs set `visor-…` variables; their detections have the type `user_var.visor-…`.
    near = [f"user_var.{text}"] if text.startswith("visor-") else find_close_matches(text, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor rules list` shows the rules and their types."
    raise BadRequest(f"{text!r} matches no active rule and no event type", hint=hint, details={"nearest": near})


def check_detection_type(text: str | None) -> None:
    """Raise BadRequest for a name that cannot be a detection type. A glob is not checked."""
    if text is None or any(sign in text for sign in "*?[") or "." in text or text == "user_var":
        return
    raise BadRequest(
        f"{text!r} is not a detection type",
        hint="Types contain a dot, such as usage.reached; use --kind for other events.",
        details={"types": list(EVENT_TYPES)},
    )


class EventItem(Struct, frozen=True, kw_only=True):
    """``cursor`` identifies the event; pass it back to get the events after it. ``detection`` is null if the event
    comes from neither a rule nor an agent.
    """

    cursor: str
    at: str
    kind: str
    pane: int | None
    data: dict[str, Scalar]
    detection: DetectionItem | None = None


async def check_rule_and_agent(services: Services, rule: str | None, agent: str | None) -> None:
    """Raise BadRequest for an unknown rule or agent: such a filter would never match."""
    if rule is not None and not any(sign in rule for sign in "*?["):
        check_rule_or_type(rule, services.detections.rules.values())
    if agent is not None:
        await check_agent_name(services, agent)


def build_item_of_detection(detection: Detection, workflow: str | None = None) -> EventItem:
    event = Event(
        id=detection.event, at=detection.at, kind=detection.type, pane=detection.pane, data=detection.event_data
    )
    return build_event_item(event, detection, workflow)


async def build_event_items(services: Services, events: Sequence[Event]) -> list[EventItem]:
    """Build the items of these events, with their detections."""
    ids = [event.id for event in events if can_be_detection(event.kind)]
    detections = await services.detections.find_by_events(ids)
    return [build_event_item(event, detections.get(event.id)) for event in events]


def can_be_detection(kind: str) -> bool:
    return "." in kind or kind == "user_var"


async def read_newest_cursor(services: Services) -> int:
    """Return the cursor of the newest event, or 0 without events."""
    newest = await services.history.list_events(limit=1)
    return newest[-1].id if newest else 0


def build_event_item(event: Event, detection: Detection | None = None, workflow: str | None = None) -> EventItem:
    return EventItem(
        cursor=str(event.id),
        at=format_timestamp(event.at),
        kind=event.kind,
        pane=event.pane,
        data=format_time_fields(event.data),
        detection=None if detection is None else build_detection_item(detection, workflow),
    )


async def parse_event_cursor(services: Services, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        oldest = str(await find_oldest_cursor(services))
        raise InvalidCursor(f"{text!r} is not an event cursor", details={"oldest": oldest})
    return int(text)


async def find_oldest_cursor(services: Services) -> int:
    """Return the cursor before the oldest stored event."""
    try:
        await services.history.list_events(after=0, limit=1)
    except InvalidCursor as error:  # retention has deleted the first events
        return int(str(error.details["oldest"]))
    return 0


async def find_cursor_at(services: Services, since: int) -> int:
    """Return the cursor before the first event at or after this time."""
    oldest = await find_oldest_cursor(services)
    events = await services.history.list_events(after=oldest, since=since, limit=1)
    return events[0].id - 1 if events else await read_newest_cursor(services) or oldest


def check_event_kind(kind: str | None) -> None:
    known = {**EVENT_KINDS, **EVENT_TYPES}
    if kind is not None and kind not in known and not is_event_type(kind):
        hint = suggest_name(kind, list(known), "`docs/reference/events.md` lists them.")
        raise BadRequest(f"unknown event kind {kind!r}", hint=hint, details={"kinds": list(known)})


async def find_detection(services: Services, text: str) -> Detection:
    """Return the detection with this cursor, `12` or `event:12`. Raises BadRequest or EventNotFound."""
    digits = text.removeprefix("event:")
    if not (digits.isascii() and digits.isdecimal()):
        raise BadRequest(f"{text!r} is not an event", hint="Name it by its cursor in `visor events`, such as 120.")
    event_id = EventId(int(digits))
    detection = (await services.detections.find_by_events([event_id])).get(event_id)
    if detection is None:
        raise EventNotFound(f"event {event_id} is not a detection, or is no longer stored", details={"event": event_id})
    return detection


def format_caller(actor: Actor) -> str:
    """Format as `person:1000`; show a program by its name, if it has one."""
    kind = "person" if actor.kind == "human" else actor.kind
    return redact(f"{kind}:{actor.name or actor.uid}")
