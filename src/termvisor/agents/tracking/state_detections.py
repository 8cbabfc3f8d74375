"""What an agent tells itself, or its screen shows, becomes the same detections as what rules find in its text. Pure.

A limit, a missing login, the end of a compaction or of a session is noticed when it is new: when the state that is
published has it and the one before had not. So whoever folds the same facts again notices nothing twice.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentFlags, StateChange
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.event import Scalar
from termvisor.model.event_types import build_detection_key
from termvisor.model.ids import RuntimeId

RuleLookup = Callable[[str], Rule | None]
"""A rule in force, by its id."""
_MAX_CONTEXT_CHARS = 500
_NO_FLAGS = AgentFlags()


class SignalRule(Struct, frozen=True, kw_only=True):
    """What the agent's own word is called as a rule, and what it means."""

    rule: str
    type: str
    severity: Severity


_USAGE_LIMITED = SignalRule(rule="signal.usage_limited", type="usage.reached", severity="error")
_COMPACTED = SignalRule(rule="signal.compacting", type="session.compaction", severity="warning")
_AUTH_NEEDED = SignalRule(rule="signal.auth_needed", type="auth.required", severity="error")
_SESSION_ENDED = SignalRule(rule="signal.session_ended", type="session.summary", severity="info")
SIGNAL_RULES = (_USAGE_LIMITED, _COMPACTED, _AUTH_NEEDED, _SESSION_ENDED)


def detect_flag_changes(change: StateChange) -> Iterator[Detection]:
    """Of an agent that goes on."""
    before = change.before.flags if change.before is not None else _NO_FLAGS
    now = change.after.flags
    evidence: dict[str, Scalar] = {"signal": change.after.evidence, "source": change.after.source}
    if now.usage_limited and not before.usage_limited:
        ends = {} if now.resets_at is None else {"resets_at": format_timestamp(now.resets_at)}
        yield _build_detection(_USAGE_LIMITED, change, ends, {**evidence, "resets_at": now.resets_at})
    if before.compacting and not now.compacting:
        yield _build_detection(_COMPACTED, change, {}, evidence)
    if now.auth_needed and not before.auth_needed:
        yield _build_detection(_AUTH_NEEDED, change, {}, evidence)


def detect_session_end(session: AgentSession, end_reason: EndReason | None) -> Detection:
    """One that is over, with what it used, and why it ended where somebody has said so."""
    usage = session.usage
    counts = {name: getattr(usage, name) for name in ("total", "input", "cached", "output", "reasoning", "cost")}
    told = {"session_id": session.external_id, "end_reason": end_reason, "model": session.model, **counts}
    captures = {name: str(value) for name, value in told.items() if value not in (None, "")}
    return Detection(
        at=session.ended_at or session.started_at,
        type=_SESSION_ENDED.type,
        rule=_SESSION_ENDED.rule,
        pane=session.pane,
        runtime=session.runtime,
        agent=session.agent,
        severity=_SESSION_ENDED.severity,
        captures=captures,
        source="signal",
        evidence={"session": session.id},
        context=session.title[:_MAX_CONTEXT_CHARS],
        key=build_detection_key(_SESSION_ENDED.type, session.agent, session.runtime, captures),
    )


def detect_screen_rule(
    agent_process: AgentProcess, signal: Signal, previous_rule: str, find_rule: RuleLookup
) -> Detection | None:
    """Of a screen that shows what it did not show before."""
    name = signal.payload.get("rule")
    rule = find_rule(name) if isinstance(name, str) and name != previous_rule else None
    if rule is None or not rule.event:
        return None
    said = {key: value for key, value in signal.payload.items() if key != "rule" and value not in (None, "")}
    captures = {key: str(value) for key, value in said.items()}
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
        key=build_detection_key(rule.event, agent_process.agent, agent_process.id, captures),
    )


def _build_detection(
    signal_rule: SignalRule, change: StateChange, captures: dict[str, str], evidence: dict[str, Scalar]
) -> Detection:
    state = change.after
    runtime: RuntimeId = state.runtime
    return Detection(
        at=change.at,
        type=signal_rule.type,
        rule=signal_rule.rule,
        pane=state.pane,
        runtime=runtime,
        agent=state.agent,
        severity=signal_rule.severity,
        captures=captures,
        source="signal",
        evidence={name: value for name, value in evidence.items() if value is not None},
        key=build_detection_key(signal_rule.type, state.agent, runtime, captures),
    )
