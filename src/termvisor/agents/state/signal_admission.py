"""Decide which signals count: reject inadmissible ones, order those of a source, and remember which were seen.

Order: life of the source, its own sequence number, its time, our time, our number. A source time ahead of our clock is
capped, because it would make all later signals look late. A source that numbers its signals must number all of them.

Invariant: a signal that was seen once is never treated as new, even after its key was evicted.
"""

from msgspec import Struct

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import DropReason, Signal

SignalPosition = tuple[int, int, int, int, int]
START_POSITION: SignalPosition = (-1, -1, -1, -1, -1)
PositionPrefix = tuple[int, int, int]
"""A position without our own time and number."""


def compute_position(signal: Signal) -> SignalPosition:
    """Return the position of a signal, comparable only with positions of the same source."""
    number = -1 if signal.source_seq is None else signal.source_seq
    event_at = min(signal.event_at, signal.ingested_at)
    return signal.source_life, number, event_at, signal.ingested_at, signal.id


class SeenSignals(Struct, frozen=True, kw_only=True):
    seen: dict[str, SignalPosition] = {}
    """Keys and positions, the oldest first."""
    forgotten: PositionPrefix = START_POSITION[:3]
    """The highest position of the evicted keys."""


def is_forgotten(seen_signals: SeenSignals, position: SignalPosition) -> bool:
    """Return True if an unknown signal is so old that its key may have been evicted."""
    return position[:3] <= seen_signals.forgotten


def remember_signal(
    seen_signals: SeenSignals, key: str, position: SignalPosition, thresholds: Thresholds
) -> SeenSignals:
    """Add a key, and evict those that are too old or too many."""
    seen, forgotten = {**seen_signals.seen, key: position}, seen_signals.forgotten
    # [3] is our own time, because the clock of a source may be wrong.
    oldest = position[3] - thresholds.remembered_for
    while (first := next(iter(seen))) != key and (len(seen) > thresholds.max_seen_signals or seen[first][3] < oldest):
        forgotten = max(forgotten, seen.pop(first)[:3])
    return SeenSignals(seen=seen, forgotten=forgotten)


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
