"""What the history says of agents: that one began, what its state became and by what evidence, that it ended. Pure."""

from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.session import EndReason
from termvisor.model.agent.state import AgentState, StateChange
from termvisor.model.event import Event, Scalar


def beginning(told: StateChange, runtime: Runtime) -> Event:
    return _event("agent_began", told, {"pid": runtime.pid})


def end(told: StateChange, reason: EndReason | None) -> Event:
    return _event("agent_ended", told, {"end_reason": reason})


def change(told: StateChange) -> Event | None:
    """None where nothing changed that is shown: another source that says the same is no news."""
    before, after = told.before, told.after
    if before is not None and _shown(before) == _shown(after):
        return None
    data: dict[str, Scalar] = {
        "before": before.value if before is not None else None,
        "after": after.value,
        "tier": after.evidence_mode,
        "source": after.source,
        "evidence": after.evidence,
        "confidence": after.confidence,
        "version": told.version,
    }
    return _event("state_changed", told, data | _beside(after))


def _event(kind: str, told: StateChange, data: dict[str, Scalar]) -> Event:
    who: dict[str, Scalar] = {"runtime": told.after.runtime, "agent": told.after.agent}
    return Event(at=told.at, kind=kind, pane=told.after.pane, data=who | data)


def _shown(state: AgentState) -> tuple[object, ...]:
    return state.value, state.reason, state.flags, state.presence


def _beside(state: AgentState) -> dict[str, Scalar]:
    """The flags that are set, and why a state is not known."""
    flags = state.flags
    told: dict[str, Scalar] = {
        "reason": state.reason,
        "usage_limited": flags.usage_limited,
        "resets_at": flags.resets_at,
        "compacting": flags.compacting,
        "auth_needed": flags.auth_needed,
        "subtasks": flags.subtasks,
        "contradicted": flags.contradicted.state if flags.contradicted is not None else None,
        "ambiguous": flags.ambiguous,
    }
    return {name: value for name, value in told.items() if value}
