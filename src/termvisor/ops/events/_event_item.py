"""A detection as operations tell it, and the filters that choose some."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event_types import EVENT_TYPES
from termvisor.ops.panes._listing import format_optional_timestamp
from termvisor.redaction import redact

TypeFilter = Annotated[
    str | None, Meta(description="Only detections of this type, such as usage.reached; a glob such as usage.* too.")
]
RuleFilter = Annotated[str | None, Meta(description="Only what this rule found; a glob too.")]
AgentFilter = Annotated[str | None, Meta(description="Only what is about this agent, such as codex.")]
SeverityFilter = Annotated[Severity | None, Meta(description="Only detections that are at least so severe.")]
UnhandledFilter = Annotated[bool, Meta(description="Only detections that nobody has seen to.")]


SIGNAL_DESCRIPTIONS = {
    "signal.usage_limited": "The agent itself said that it reached a usage limit.",
    "signal.compacting": "The agent itself said that it summarised its conversation, and that this is done.",
    "signal.auth_needed": "The agent itself said that somebody must log in.",
    "signal.session_ended": "The agent's session ended.",
}
"""What stands for a rule where the agent itself told it."""


class HandlingItem(Struct, frozen=True, kw_only=True):
    """Who saw to it: `person:1000`, `workflow:handle_compaction`, `mute:usage.*`."""

    at: str
    by: str
    action: str
    run: int | None


class DetectionItem(Struct, frozen=True, kw_only=True):
    """What an event has beside the others where a rule found it or an agent told it. ``proven`` is false for what
    anybody could have said, which starts nothing; ``remedy`` is the workflow that would answer it now.
    """

    rule: str
    agent: str
    runtime: int | None
    severity: Severity
    captures: dict[str, str]
    source: str
    confidence: float
    context: str
    seen_again: int
    last_seen: str | None
    correlation: str
    proven: bool
    handled: HandlingItem | None
    remedy: str | None = None


def build_detection_item(detection: Detection, remedy: str | None = None) -> DetectionItem:
    done = detection.handling
    return DetectionItem(
        rule=detection.rule,
        agent=detection.agent,
        runtime=detection.runtime,
        severity=detection.severity,
        captures={redact(name): redact(value) for name, value in detection.captures.items()},
        source=detection.source,
        confidence=detection.confidence,
        context=redact(detection.context),
        seen_again=detection.seen_again,
        last_seen=format_optional_timestamp(detection.last_at),
        correlation=detection.correlation,
        proven=detection.can_start_workflow,
        handled=None
        if done is None
        else HandlingItem(
            at=format_optional_timestamp(done.at) or "", by=redact(done.by), action=redact(done.action), run=done.run
        ),
        remedy=remedy,
    )


def matches_filter(detection: Detection | None, detection_filter: DetectionFilter) -> bool:
    """Whether something that happens now is what was asked for."""
    from typing import get_args

    if detection is None:
        return detection_filter == DetectionFilter()
    ranks = get_args(Severity)
    return (
        fnmatchcase(detection.type, detection_filter.type or "*")
        and fnmatchcase(detection.rule, detection_filter.rule or "*")
        and detection_filter.agent in (None, detection.agent)
        and ranks.index(detection.severity) >= ranks.index(detection_filter.severity or "info")
        and not (detection_filter.is_unhandled and detection.handling is not None)
    )


def check_rule_or_type(text: str, rules: Iterable[Rule]) -> None:
    """What fits no rule in force and no type of event is mistyped, or of a rule that is gone."""
    told = {name for rule in rules for name in (rule.id, rule.event)}
    known = sorted({*told, *EVENT_TYPES, *SIGNAL_DESCRIPTIONS, "user_var"})
    if any(fnmatchcase(one, text) for one in known) or text.startswith("user_var."):
        return
    near = [f"user_var.{text}"] if text.startswith("visor-") else find_close_matches(text, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor rules list` shows the rules and their types."
    raise BadRequest(f"{text!r} fits no rule in force and no type of event", hint=hint, details={"nearest": near})


def check_detection_type(text: str | None) -> None:
    """A type without the signs of a glob has a shape, and mostly one of the known names."""
    if text is None or any(sign in text for sign in "*?[") or "." in text or text == "user_var":
        return
    raise BadRequest(
        f"{text!r} is no type of a detection",
        hint="Types are words with points between them, such as usage.reached; --kind takes the kinds of other events.",
        details={"types": list(EVENT_TYPES)},
    )
