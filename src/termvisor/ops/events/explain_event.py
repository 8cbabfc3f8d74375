"""The op `explain_event`: why something was detected, on what evidence, and what became of it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.detection.detection import Detection
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule
from termvisor.model.event import Scalar
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.events._detection_item import SIGNALS
from termvisor.ops.events.events_ack import detected
from termvisor.ops.events.list_events import EventItem, detected_item
from termvisor.ops.render.action_text import masked
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact

_ABOVE, _BELOW = 3, 3


class ExplainEvent(Struct, frozen=True, kw_only=True):
    """Of which event."""

    event: Annotated[
        str, Meta(description="Its cursor, as `visor events` shows it: 120 or event:120.", extra={"positional": "one"})
    ]


class EventRule(Struct, frozen=True, kw_only=True):
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


class TextItem(Struct, frozen=True, kw_only=True):
    """A stored line near the place; ``is_it`` marks the one that was found."""

    number: int
    text: str
    is_it: bool


class ExplainedEvent(Struct, frozen=True, kw_only=True):
    """``evidence`` says where it stands, ``lines`` what is stored there now; ``key`` is what makes it the same thing
    when it is seen again.
    """

    event: EventItem
    rule: EventRule
    key: str
    cooldown: float
    evidence: dict[str, Scalar]
    lines: tuple[TextItem, ...]
    match_trace: MatchTrace | None


async def run(world: World, wanted: ExplainEvent) -> ExplainedEvent:
    one = await detected(world, wanted.event)
    return ExplainedEvent(
        event=detected_item(one, world.runs.answering(one)),
        rule=_rule(one, world.detections.rules.get(one.rule)),
        key=redact(one.key),
        cooldown=one.cooldown,
        evidence=masked(one.evidence),
        lines=await _lines(world, one),
        match_trace=world.detections.trace(one),
    )


def _rule(one: Detection, rule: Rule | None) -> EventRule:
    if rule is None:
        why = SIGNALS.get(one.rule) or ("A program reported it." if one.source == "user_var" else "")
        return EventRule(id=one.rule, is_in_force=one.source in ("signal", "user_var"), why=why)
    return EventRule(
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


async def _lines(world: World, one: Detection) -> tuple[TextItem, ...]:
    place = one.evidence.get("line")
    if not isinstance(place, int):
        return ()
    low, high = max(0, place - _ABOVE - 1), place + _BELOW + 1
    lines = await world.history.lines(one.pane, after=low, before=high, limit=_ABOVE + _BELOW + 1)
    return tuple(TextItem(number=line.number, text=redact(line.text), is_it=line.number == place) for line in lines)


_WHERE = {
    "line": "the lines",
    "stream": "up to four lines",
    "screen": "the screen",
    "transcript": "the transcript",
    "mark": "the marks",
}


def plain(told: ExplainedEvent, look: Look) -> str:
    parts = [_head(told, look), _place(told, look), _end(told)]
    return "\n\n".join(part for part in parts if part)


def _head(told: ExplainedEvent, look: Look) -> str:
    event, rule = told.event, told.rule
    known = event.detection
    who = f" of {known.agent}" if known is not None and known.agent else ""
    lines = [f"event {event.cursor}: {look.paint('bold', event.kind)}{clean(who)} in pane {event.pane}, {event.at}"]
    state = "" if rule.is_in_force else " (no longer in force)"
    lines.append(clean(f"Found by {rule.id}{state}: {rule.why}".rstrip(": ")))
    if rule.pattern:
        where = f"{_WHERE.get(rule.scope, rule.scope)} of {rule.agent or 'every pane'}"
        lines.append(clean(f"It looks for {rule.pattern} in {where} ({rule.pack})."))
    captures = known.captures if known is not None else {}
    return "\n".join([*lines, *(f"  {clean(name)}: {clean(value)}" for name, value in captures.items())])


def _place(told: ExplainedEvent, look: Look) -> str:
    where = ", ".join(f"{name} {value}" for name, value in told.evidence.items())
    if told.lines:
        shown = [f"{'>' if one.is_it else ' '} {one.number:>6}  {clean(one.text)}" for one in told.lines]
    else:
        context = told.event.detection.context if told.event.detection is not None else ""
        shown = [f"  {clean(line)}" for line in context.splitlines()]
    return "\n".join([clean(f"Evidence: {where}" if where else "Evidence:"), *shown])


def _end(told: ExplainedEvent) -> str:
    known = told.event.detection
    if known is None:
        return ""
    lines = [f"It was seen {known.seen_again} more times, last {known.last_seen}."] if known.seen_again else []
    lines += [f"The same within {told.cooldown:g} s is not told again."] if told.cooldown and told.key else []
    lines += [] if known.proven else ["Anybody could have said it: it starts nothing."]
    done = known.handled
    if done is not None:
        run = f" (run {done.run})" if done.run is not None else ""
        lines.append(f"Handled by {done.by}{run} at {done.at}{': ' * bool(done.action)}{done.action}")
    else:
        lines.append(f"Nobody has seen to it; {known.remedy or 'no workflow'} would.")
    return "\n".join(clean(line) for line in lines)


OP = Op(
    name="explain_event",
    summary="Why something was detected, and what became of it.",
    doc="""The rule with its meaning, what it captured, where the text stands, the stored lines around it with secrets
taken out, how often it was seen again, and who saw to it. `visor explain event:120` is the same.""",
    Input=ExplainEvent,
    Output=ExplainedEvent,
    run=run,
    plain=plain,
    exits=((4, "There is no such detection."),),
    examples=(
        Example("explain event:120", "for people"),
        Example("robot explain-event 120", "as JSON"),
    ),
)
