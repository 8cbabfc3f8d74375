"""What an agent tells itself, or its screen shows, becomes the same detections as what rules find in its text. Pure.

A limit, a missing login, the end of a compaction or of a session is noticed when it is new: when the state that is
published has it and the one before had not. So whoever folds the same facts again notices nothing twice.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import Flags, StateChange
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Rule, Severity
from termvisor.model.event import Scalar
from termvisor.model.event_types import key_of
from termvisor.model.ids import RuntimeId

Rules = Callable[[str], Rule | None]
"""A rule in force, by its id."""
_CONTEXT = 500
_NO_FLAGS = Flags()


class Notice(Struct, frozen=True, kw_only=True):
    """What the agent's own word is called as a rule, and what it means."""

    rule: str
    type: str
    severity: Severity


_LIMITED = Notice(rule="signal.usage_limited", type="usage.reached", severity="error")
_COMPACTED = Notice(rule="signal.compacting", type="session.compaction", severity="warning")
_LOGIN = Notice(rule="signal.auth_needed", type="auth.required", severity="error")
_ENDED = Notice(rule="signal.session_ended", type="session.summary", severity="info")
NOTICES = (_LIMITED, _COMPACTED, _LOGIN, _ENDED)


def of_flags(change: StateChange) -> Iterator[Detection]:
    """Of an agent that goes on."""
    before = change.before.flags if change.before is not None else _NO_FLAGS
    now = change.after.flags
    evidence: dict[str, Scalar] = {"signal": change.after.evidence, "source": change.after.source}
    if now.usage_limited and not before.usage_limited:
        ends = {} if now.resets_at is None else {"resets_at": iso(now.resets_at)}
        yield _told(_LIMITED, change, ends, {**evidence, "resets_at": now.resets_at})
    if before.compacting and not now.compacting:
        yield _told(_COMPACTED, change, {}, evidence)
    if now.auth_needed and not before.auth_needed:
        yield _told(_LOGIN, change, {}, evidence)


def of_session(session: AgentSession, why: EndReason | None) -> Detection:
    """One that is over, with what it used, and why it ended where somebody has said so."""
    usage = session.usage
    counts = {name: getattr(usage, name) for name in ("total", "input", "cached", "output", "reasoning", "cost")}
    told = {"session_id": session.external_id, "end_reason": why, "model": session.model, **counts}
    captures = {name: str(value) for name, value in told.items() if value not in (None, "")}
    return Detection(
        at=session.ended_at or session.started_at,
        type=_ENDED.type,
        rule=_ENDED.rule,
        pane=session.pane,
        runtime=session.runtime,
        agent=session.agent,
        severity=_ENDED.severity,
        captures=captures,
        source="signal",
        evidence={"session": session.id},
        context=session.title[:_CONTEXT],
        key=key_of(_ENDED.type, session.agent, session.runtime, captures),
    )


def of_look(runtime: Runtime, signal: Signal, before: str, rules: Rules) -> Detection | None:
    """Of a screen that shows what it did not show before."""
    name = signal.payload.get("rule")
    rule = rules(name) if isinstance(name, str) and name != before else None
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
        pane=runtime.pane,
        runtime=runtime.id,
        agent=runtime.agent,
        severity=rule.severity,
        captures=captures,
        source="screen",
        evidence=evidence,
        context="\n".join(captures.values())[:_CONTEXT],
        confidence=signal.confidence,
        cooldown=rule.cooldown,
        key=key_of(rule.event, runtime.agent, runtime.id, captures),
    )


def _told(notice: Notice, change: StateChange, captures: dict[str, str], evidence: dict[str, Scalar]) -> Detection:
    state = change.after
    runtime: RuntimeId = state.runtime
    return Detection(
        at=change.at,
        type=notice.type,
        rule=notice.rule,
        pane=state.pane,
        runtime=runtime,
        agent=state.agent,
        severity=notice.severity,
        captures=captures,
        source="signal",
        evidence={name: value for name, value in evidence.items() if value is not None},
        key=key_of(notice.type, state.agent, runtime, captures),
    )
