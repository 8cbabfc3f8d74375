"""Order the signals of one source, and remember which were seen.

Order: life of the source, its own sequence number, its time, our time, our number. A source time ahead of our clock is
capped: it would make all later signals look late. A source that numbers its signals numbers all of them.

Invariant: a signal that was seen once is never new again, also after its key was evicted.
"""

from msgspec import Struct

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import Signal

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
    oldest = position[3] - thresholds.remembered_for  # [3]: when it was captured
    while (first := next(iter(seen))) != key and (len(seen) > thresholds.max_seen_signals or seen[first][3] < oldest):
        forgotten = max(forgotten, seen.pop(first)[:3])
    return SeenSignals(seen=seen, forgotten=forgotten)
