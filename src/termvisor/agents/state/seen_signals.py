"""Which signals of a source were heard before: their keys for a while, and after that how far the forgotten reach.

Invariant: a signal that was heard once is never new again, also when its key was forgotten long ago.
"""

from msgspec import Struct

from termvisor.agents.state.signal_order import START_POSITION, SignalPosition
from termvisor.agents.state.thresholds import Thresholds

PositionPrefix = tuple[int, int, int]
"""A position without our own times."""


class SeenSignals(Struct, frozen=True, kw_only=True):
    seen: dict[str, SignalPosition] = {}
    """The first heard first."""
    forgotten: PositionPrefix = START_POSITION[:3]


def is_forgotten(seen_signals: SeenSignals, position: SignalPosition) -> bool:
    """Whether a signal that is not known is so old that it may have been."""
    return position[:3] <= seen_signals.forgotten


def remember_signal(
    seen_signals: SeenSignals, key: str, position: SignalPosition, thresholds: Thresholds
) -> SeenSignals:
    """With one key more, and without those that are too old or too many."""
    seen, forgotten = {**seen_signals.seen, key: position}, seen_signals.forgotten
    oldest = position[3] - thresholds.remembered_for
    while (first := next(iter(seen))) != key and (len(seen) > thresholds.max_seen_signals or seen[first][3] < oldest):
        forgotten = max(forgotten, seen.pop(first)[:3])
    return SeenSignals(seen=seen, forgotten=forgotten)
