"""The operation `explain_event`: show the rule, evidence and handling of a detection."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import MatchTrace, Rule
from termvisor.model.event import Scalar
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import SIGNAL_DESCRIPTIONS, EventItem, build_item_of_detection, find_detection
from termvisor.ops.render.results import copy_fields, format_time_fields
from termvisor.ops.render.text import RenderOptions, format_moment, format_time, sanitize
from termvisor.redaction import redact, redact_values

_LINES_ABOVE, _LINES_BELOW = 3, 3


class ExplainEventArgs(Struct, frozen=True, kw_only=True):
    """Choose the event."""

    event: Annotated[
        str, Meta(description="The event's cursor in `visor events`: 120 or event:120.", extra={"positional": "one"})
    ]


class DetectionRuleItem(Struct, frozen=True, kw_only=True):
    """The current rule; ``is_in_force`` is false if it was removed or disabled since the detection."""

    id: str
    is_in_force: bool
    why: str
    pack: str = ""
    scope: str = ""
    agent: str = ""
    pattern: str = ""
    cooldown: float = 0.0
    remedy: str = ""


class EvidenceLineItem(Struct, frozen=True, kw_only=True):
    """A stored line around the match; ``is_it`` marks the matching one."""

    number: int
    text: str
    is_it: bool


class ExplainEventResult(Struct, frozen=True, kw_only=True):
    """``evidence`` locates the match, ``lines`` are the lines stored there now; a repeated match with the same ``key``
    within the cooldown is counted instead of stored.
    """

    event: EventItem
    rule: DetectionRuleItem
    key: str
    cooldown: float
    evidence: dict[str, Scalar]
    lines: tuple[EvidenceLineItem, ...]
    match_trace: MatchTrace | None


async def run(services: Services, args: ExplainEventArgs) -> ExplainEventResult:
    detection = await find_detection(services, args.event)
    return ExplainEventResult(
        event=build_item_of_detection(detection, services.workflows.find_answering_workflow(detection)),
        rule=_build_rule_item(detection, services.detections.rules.get(detection.rule)),
        key=redact(detection.key),
        cooldown=detection.cooldown,
        evidence=redact_values(format_time_fields(detection.evidence)),
        lines=await _read_lines(services, detection),
        match_trace=services.detections.trace_match(detection),
    )


def _build_rule_item(detection: Detection, rule: Rule | None) -> DetectionRuleItem:
    if rule is None:
        why = SIGNAL_DESCRIPTIONS.get(detection.rule) or (
            "A program set this user variable." if detection.source == "user_var" else ""
        )
        return DetectionRuleItem(id=detection.rule, is_in_force=detection.source in ("signal", "user_var"), why=why)
    return copy_fields(DetectionRuleItem, rule, is_in_force=True)


async def _read_lines(services: Services, detection: Detection) -> tuple[EvidenceLineItem, ...]:
    number = detection.evidence.get("line")
    if not isinstance(number, int):
        return ()
    # A few lines around the match show in which output it was printed.
    low, high = max(0, number - _LINES_ABOVE - 1), number + _LINES_BELOW + 1
    lines = await services.history.list_lines(
        detection.pane, after=low, before=high, limit=_LINES_ABOVE + _LINES_BELOW + 1
    )
    return tuple(
        EvidenceLineItem(number=line.number, text=redact(line.text), is_it=line.number == number) for line in lines
    )


_SCOPE_DESCRIPTIONS = {
    "line": "the lines",
    "stream": "up to four lines",
    "screen": "the screen",
    "transcript": "the transcript",
    "mark": "the marks",
}


def render_text(result: ExplainEventResult, options: RenderOptions) -> str:
    parts = [_format_head(result, options), _format_evidence(result, options), _format_handling(result, options)]
    return "\n\n".join(part for part in parts if part)


def _format_head(result: ExplainEventResult, options: RenderOptions) -> str:
    event, rule = result.event, result.rule
    detection = event.detection
    agent = f" of {detection.agent}" if detection is not None and detection.agent else ""
    kind, at = options.paint("bold", event.kind), format_time(event.at, options)
    lines = [f"event {event.cursor}: {kind}{sanitize(agent)} in pane {event.pane}, {at}"]
    state = "" if rule.is_in_force else " (no longer active)"
    lines.append(sanitize(f"Rule {rule.id}{state}: {rule.why}".rstrip(": ")))
    if rule.pattern:
        where = f"{_SCOPE_DESCRIPTIONS.get(rule.scope, rule.scope)} of {rule.agent or 'every pane'}"
        lines.append(sanitize(f"It matches {rule.pattern} in {where} (pack {rule.pack})."))
    captures = detection.captures if detection is not None else {}
    return "\n".join([*lines, *(f"  {sanitize(name)}: {sanitize(value)}" for name, value in captures.items())])


def _format_evidence(result: ExplainEventResult, options: RenderOptions) -> str:
    where = ", ".join(f"{name} {value}" for name, value in result.evidence.items())
    if result.lines:
        shown = [f"{'>' if line.is_it else ' '} {line.number:>6}  {sanitize(line.text)}" for line in result.lines]
    else:
        # The lines were deleted by retention, or the match was on a screen; the stored context remains.
        context = result.event.detection.context if result.event.detection is not None else ""
        shown = [f"  {sanitize(text)}" for text in context.splitlines()]
    return "\n".join([sanitize(f"Evidence: {where}" if where else "Evidence:"), *shown])


def _format_handling(result: ExplainEventResult, options: RenderOptions) -> str:
    detection = result.event.detection
    if detection is None:
        return ""
    lines = []
    if detection.seen_again:
        lines.append(
            f"Seen {detection.seen_again} more times, last {format_moment(detection.last_seen or '', options)}."
        )
    if result.cooldown and result.key:
        lines.append(f"Repeats within {result.cooldown:g} s are counted, not stored.")
    if not detection.proven:
        lines.append("Not proven: any program could have printed it, so it starts no workflow.")
    handling = detection.handled
    if handling is not None:
        run = f" (run {handling.run})" if handling.run is not None else ""
        action = f": {handling.action}" if handling.action else ""
        lines.append(f"Handled by {handling.by}{run} {format_moment(handling.at, options)}{action}")
    else:
        lines.append(f"Not handled; {detection.remedy or 'no workflow'} would handle it.")
    return "\n".join(sanitize(line) for line in lines)


OP = Operation(
    name="explain_event",
    summary="Explain a detection: its rule, evidence and handling.",
    doc="""Shows the rule and its meaning, the captures, the place of the match, the stored lines around it (redacted),
how often it was seen again, and who handled it. `visor explain event:120` does the same.""",
    run=run,
    render_text=render_text,
    exit_statuses=((4, "Detection not found."),),
    examples=(OperationExample("explain event:120", "as text"), OperationExample("robot explain-event 120", "as JSON")),
)
