"""Build detections, like those that rules find in text, from state changes, session ends and screen rules. Pure.

A usage limit, a missing login, and the end of a compaction or session are detected when the published state changes, so
folding the same facts again detects nothing twice.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.source_slots import SourceSlot, collect_captures
from termvisor.clock import format_timestamp
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentFlags, AgentState, StateChange
from termvisor.model.detection.detection import Detection, build_detection_key
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.event import Scalar

RuleLookup = Callable[[str], Rule | None]
"""Return an active rule by its id."""
_MAX_CONTEXT_CHARS = 500
_NO_FLAGS = AgentFlags()


class SignalRule(Struct, frozen=True, kw_only=True):
    """The rule id, type and severity of a detection that is derived from signals."""

    rule: str
    type: str
    severity: Severity


_USAGE_LIMITED = SignalRule(rule="signal.usage_limited", type="usage.reached", severity="error")
_COMPACTED = SignalRule(rule="signal.compacting", type="session.compaction", severity="warning")
_AUTH_NEEDED = SignalRule(rule="signal.auth_needed", type="auth.required", severity="error")
_SESSION_ENDED = SignalRule(rule="signal.session_ended", type="session.summary", severity="info")
SIGNAL_RULES = (_USAGE_LIMITED, _COMPACTED, _AUTH_NEEDED, _SESSION_ENDED)


def detect_flag_changes(change: StateChange, shown_event: str = "") -> Iterator[Detection]:
    """Yield a detection for each changed flag of an agent that is still running.

    ``shown_event`` is the event of the screen rule that alone set the flag. It already reports what the screen shows:
    a login with a device code is not a required login as well.
    """
    before = change.before.flags if change.before is not None else _NO_FLAGS
    now = change.after.flags
    evidence: dict[str, Scalar] = {"signal": change.after.evidence, "source": change.after.source}
    if now.usage_limited and not before.usage_limited:
        captures = {} if now.resets_at is None else {"resets_at": format_timestamp(now.resets_at)}
        yield _build_detection(
            _USAGE_LIMITED, change.at, change.after, captures, {**evidence, "resets_at": now.resets_at}
        )
    if before.compacting and not now.compacting:
        yield _build_detection(_COMPACTED, change.at, change.after, {}, evidence)
    if now.auth_needed and not before.auth_needed and not shown_event:
        yield _build_detection(_AUTH_NEEDED, change.at, change.after, {}, evidence)


def detect_session_end(session: AgentSession, end_reason: EndReason | None) -> Detection:
    """Build the detection of an ended session with its usage, and its end reason if that is known."""
    usage = session.usage
    counts = {name: getattr(usage, name) for name in ("total", "input", "cached", "output", "reasoning", "cost")}
    values = {"session_id": session.external_id, "end_reason": end_reason, "model": session.model, **counts}
    captures = {name: str(value) for name, value in values.items() if value not in (None, "")}
    detection = _build_detection(
        _SESSION_ENDED, session.ended_at or session.started_at, session, captures, {"session": session.id}
    )
    return replace(detection, context=session.title[:_MAX_CONTEXT_CHARS])


def detect_screen_rule(
    agent_process: AgentProcess, signal: Signal, previous: SourceSlot, find_rule: RuleLookup
) -> Detection | None:
    """Build the detection of a screen rule; None if the previous screen showed the same.

    ``previous`` is what the source reported before. The same rule with other captures, such as a new device code, is
    another detection where the key tells them apart.
    """
    name = signal.payload.get("rule")
    rule = find_rule(name) if isinstance(name, str) else None
    if rule is None or not rule.event:
        return None
    captures = collect_captures(signal)
    key = build_detection_key(rule.event, agent_process.agent, agent_process.id, captures)
    shown_key = build_detection_key(rule.event, agent_process.agent, agent_process.id, previous.captures)
    if name == previous.rule and (not captures or not previous.captures or key == shown_key):
        return None
    evidence: dict[str, Scalar] = {"signal": signal.id, "source": signal.source}
    if signal.flags.resets_at is not None:
        evidence["resets_at"] = signal.flags.resets_at
    return Detection(
        at=signal.ingested_at,
        type=rule.event,
        rule=rule.id,
        pane=agent_process.pane,
        runtime=agent_process.id,
        agent=agent_process.agent,
        severity=rule.severity,
        captures=captures,
        source="screen",
        evidence=evidence,
        context="\n".join(captures.values())[:_MAX_CONTEXT_CHARS],
        confidence=signal.confidence,
        cooldown=rule.cooldown,
        key=key,
    )


def _build_detection(
    signal_rule: SignalRule,
    at: int,
    subject: AgentState | AgentSession,
    captures: dict[str, str],
    evidence: dict[str, Scalar],
) -> Detection:
    return Detection(
        at=at,
        type=signal_rule.type,
        rule=signal_rule.rule,
        pane=subject.pane,
        runtime=subject.runtime,
        agent=subject.agent,
        severity=signal_rule.severity,
        captures=captures,
        source="signal",
        evidence={name: value for name, value in evidence.items() if value is not None},
        key=build_detection_key(signal_rule.type, subject.agent, subject.runtime, captures),
    )
