"""Whether a signal may be heard at all, whoever it is about."""

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import DropReason, Signal


def find_rejection_reason(signal: Signal, thresholds: Thresholds) -> DropReason | None:
    """Why it is not heard; None for one that is."""
    source = thresholds.find_source(signal.agent, signal.source)
    if source is None or source.tier != signal.tier:
        return "source_inadmissible"
    if source.standing != "active":
        return "source_not_active"
    if signal.event_at <= 0:
        return "missing_event_time"
    return None if is_complete_signal(signal) else "invalid_source_event"


def is_complete_signal(signal: Signal) -> bool:
    """Whether it says what its kind must say. A look proves neither the end of a process nor a reset time in itself."""
    if not signal.dedupe_key or not 0.0 <= signal.confidence <= 1.0:
        return False
    if signal.kind == "state":
        return signal.state is not None and (signal.state == "unknown") == (signal.reason is not None)
    if signal.kind in ("task_began", "task_ended"):
        return bool(signal.task)
    if signal.kind == "exited":
        return signal.tier == "deterministic" or signal.source == "process"
    return True
