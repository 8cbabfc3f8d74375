"""Reject signals that are inadmissible or incomplete, whichever agent they are about."""

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import DropReason, Signal


def find_rejection_reason(signal: Signal, thresholds: Thresholds) -> DropReason | None:
    """Return why the signal is rejected; None if it is accepted."""
    source = thresholds.find_source(signal.agent, signal.source)
    if source is None or source.tier != signal.tier:
        return "source_inadmissible"
    if source.standing != "active":
        return "source_not_active"
    if signal.event_at <= 0:
        return "missing_event_time"
    return None if is_complete_signal(signal) else "invalid_source_event"


def is_complete_signal(signal: Signal) -> bool:
    """Return True if the signal has the fields of its kind. A screen cannot prove that a process exited."""
    if not signal.dedupe_key or not 0.0 <= signal.confidence <= 1.0:
        return False
    if signal.kind == "state":
        return signal.state is not None and (signal.state == "unknown") == (signal.reason is not None)
    if signal.kind in ("task_began", "task_ended"):
        return bool(signal.task)
    if signal.kind == "exited":
        return signal.tier == "deterministic" or signal.source == "process"
    return True
