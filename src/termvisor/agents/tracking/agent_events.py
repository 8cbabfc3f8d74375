"""Build the events of an agent: started, state changed (with its evidence), ended. Pure."""

from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.session import EndReason
from termvisor.model.agent.state import AgentState, StateChange
from termvisor.model.event import Event, Scalar


def build_began_event(change: StateChange, agent_process: AgentProcess) -> Event:
    return _build_event("agent_began", change, {"pid": agent_process.pid})


def build_ended_event(change: StateChange, reason: EndReason | None) -> Event:
    return _build_event("agent_ended", change, {"end_reason": reason})


def build_changed_event(change: StateChange) -> Event | None:
    """Return None if no visible field changed, for example if another source reports the same state."""
    before, after = change.before, change.after
    if before is not None and _get_visible_fields(before) == _get_visible_fields(after):
        return None
    data: dict[str, Scalar] = {
        "before": before.value if before is not None else None,
        "after": after.value,
        "tier": after.evidence_mode,
        "source": after.source,
        "evidence": after.evidence,
        "confidence": after.confidence,
        "version": change.version,
    }
    return _build_event("state_changed", change, data | _collect_flags(after))


def _build_event(kind: str, change: StateChange, data: dict[str, Scalar]) -> Event:
    agent: dict[str, Scalar] = {"runtime": change.after.runtime, "agent": change.after.agent}
    return Event(at=change.at, kind=kind, pane=change.after.pane, data=agent | data)


def _get_visible_fields(state: AgentState) -> tuple[object, ...]:
    return state.value, state.reason, state.flags, state.presence


def _collect_flags(state: AgentState) -> dict[str, Scalar]:
    """Return the flags that are set, and why the state is unknown."""
    flags = state.flags
    values: dict[str, Scalar] = {
        "reason": state.reason,
        "usage_limited": flags.usage_limited,
        "resets_at": flags.resets_at,
        "compacting": flags.compacting,
        "auth_needed": flags.auth_needed,
        "subtasks": flags.subtasks,
        "contradicted": flags.contradicted.state if flags.contradicted is not None else None,
        "ambiguous": flags.ambiguous,
    }
    return {name: value for name, value in values.items() if value}
