"""The op `explain_event`: why something was detected, on what evidence, and what became of it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.event import Scalar
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import SIGNAL_DESCRIPTIONS
from termvisor.ops.events.events_ack import find_detection
from termvisor.ops.events.list_events import EventItem, build_item_of_detection
from termvisor.ops.render.action_text import redact_fields
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

_LINES_ABOVE, _LINES_BELOW = 3, 3


class ExplainEventArgs(Struct, frozen=True, kw_only=True):
    """Of which event."""

    event: Annotated[
        str, Meta(description="Its cursor, as `visor events` shows it: 120 or event:120.", extra={"positional": "one"})
    ]


class DetectionRuleItem(Struct, frozen=True, kw_only=True):
    """The rule as it is now; ``is_in_force`` is false where it was removed or switched off since."""

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
    """A stored line near the place; ``is_it`` marks the one that was found."""

    number: int
    text: str
    is_it: bool


class ExplainEventResult(Struct, frozen=True, kw_only=True):
    """``evidence`` says where it stands, ``lines`` what is stored there now; ``key`` is what makes it the same thing
    when it is seen again.
    """

    event: EventItem
    rule: DetectionRuleItem
    key: str
    cooldown: float
    evidence: dict[str, Scalar]
    lines: tuple[EvidenceLineItem, ...]
    match_trace: MatchTrace | None


async def run(services: Services, args: ExplainEventArgs) -> ExplainEventResult:
    one = await find_detection(services, args.event)
    return ExplainEventResult(
        event=build_item_of_detection(one, services.workflows.find_answering_workflow(one)),
        rule=_build_rule_item(one, services.detections.rules.get(one.rule)),
        key=redact(one.key),
        cooldown=one.cooldown,
        evidence=redact_fields(one.evidence),
        lines=await _read_lines(services, one),
        match_trace=services.detections.trace_match(one),
    )


def _build_rule_item(detection: Detection, rule: Rule | None) -> DetectionRuleItem:
    if rule is None:
        why = SIGNAL_DESCRIPTIONS.get(detection.rule) or (
            "A program reported it." if detection.source == "user_var" else ""
        )
        return DetectionRuleItem(id=detection.rule, is_in_force=detection.source in ("signal", "user_var"), why=why)
    return DetectionRuleItem(
        id=rule.id,
        is_in_force=True,
        why=rule.why,
        pack=rule.pack,
        scope=rule.scope,
        agent=rule.agent,
        pattern=rule.pattern,
        cooldown=rule.cooldown,
        remedy=rule.remedy,
    )


async def _read_lines(services: Services, detection: Detection) -> tuple[EvidenceLineItem, ...]:
    place = detection.evidence.get("line")
    if not isinstance(place, int):
        return ()
    low, high = max(0, place - _LINES_ABOVE - 1), place + _LINES_BELOW + 1
    lines = await services.history.list_lines(
        detection.pane, after=low, before=high, limit=_LINES_ABOVE + _LINES_BELOW + 1
    )
    return tuple(
        EvidenceLineItem(number=line.number, text=redact(line.text), is_it=line.number == place) for line in lines
    )


_SCOPE_DESCRIPTIONS = {
    "line": "the lines",
    "stream": "up to four lines",
    "screen": "the screen",
    "transcript": "the transcript",
    "mark": "the marks",
}


def render_text(result: ExplainEventResult, options: RenderOptions) -> str:
    parts = [_format_head(result, options), _format_evidence(result, options), _format_handling(result)]
    return "\n\n".join(part for part in parts if part)


def _format_head(result: ExplainEventResult, options: RenderOptions) -> str:
    event, rule = result.event, result.rule
    known = event.detection
    who = f" of {known.agent}" if known is not None and known.agent else ""
    lines = [
        f"event {event.cursor}: {options.paint('bold', event.kind)}{sanitize(who)} in pane {event.pane}, {event.at}"
    ]
    state = "" if rule.is_in_force else " (no longer in force)"
    lines.append(sanitize(f"Found by {rule.id}{state}: {rule.why}".rstrip(": ")))
    if rule.pattern:
        where = f"{_SCOPE_DESCRIPTIONS.get(rule.scope, rule.scope)} of {rule.agent or 'every pane'}"
        lines.append(sanitize(f"It looks for {rule.pattern} in {where} ({rule.pack})."))
    captures = known.captures if known is not None else {}
    return "\n".join([*lines, *(f"  {sanitize(name)}: {sanitize(value)}" for name, value in captures.items())])


def _format_evidence(result: ExplainEventResult, options: RenderOptions) -> str:
    where = ", ".join(f"{name} {value}" for name, value in result.evidence.items())
    if result.lines:
        shown = [f"{'>' if one.is_it else ' '} {one.number:>6}  {sanitize(one.text)}" for one in result.lines]
    else:
        context = result.event.detection.context if result.event.detection is not None else ""
        shown = [f"  {sanitize(line)}" for line in context.splitlines()]
    return "\n".join([sanitize(f"Evidence: {where}" if where else "Evidence:"), *shown])


def _format_handling(result: ExplainEventResult) -> str:
    known = result.event.detection
    if known is None:
        return ""
    lines = [f"It was seen {known.seen_again} more times, last {known.last_seen}."] if known.seen_again else []
    lines += [f"The same within {result.cooldown:g} s is not told again."] if result.cooldown and result.key else []
    lines += [] if known.proven else ["Anybody could have said it: it starts nothing."]
    done = known.handled
    if done is not None:
        run = f" (run {done.run})" if done.run is not None else ""
        lines.append(f"Handled by {done.by}{run} at {done.at}{': ' * bool(done.action)}{done.action}")
    else:
        lines.append(f"Nobody has seen to it; {known.remedy or 'no workflow'} would.")
    return "\n".join(sanitize(line) for line in lines)


OP = Operation(
    name="explain_event",
    summary="Why something was detected, and what became of it.",
    doc="""The rule with its meaning, what it captured, where the text stands, the stored lines around it with secrets
taken out, how often it was seen again, and who saw to it. `visor explain event:120` is the same.""",
    args_type=ExplainEventArgs,
    result_type=ExplainEventResult,
    run=run,
    render_text=render_text,
    exit_statuses=((4, "There is no such detection."),),
    examples=(
        OperationExample("explain event:120", "for people"),
        OperationExample("robot explain-event 120", "as JSON"),
    ),
)
