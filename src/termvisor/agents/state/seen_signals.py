"""Which signals of a source were heard before: their keys for a while, and after that how far the forgotten reach.

Invariant: a signal that was heard once is never new again, also when its key was forgotten long ago.
"""

from msgspec import Struct

from termvisor.agents.state.signal_order import START, Position
from termvisor.agents.state.thresholds import Measure

Reach = tuple[int, int, int]
"""A position without our own times."""


class Memory(Struct, frozen=True, kw_only=True):
    seen: dict[str, Position] = {}
    """The first heard first."""
    forgotten: Reach = START[:3]


def is_forgotten(memory: Memory, place: Position) -> bool:
    """Whether a signal that is not known is so old that it may have been."""
    return place[:3] <= memory.forgotten


def remembered(memory: Memory, key: str, place: Position, measure: Measure) -> Memory:
    """With one key more, and without those that are too old or too many."""
    seen, forgotten = {**memory.seen, key: place}, memory.forgotten
    oldest = place[3] - measure.remembered_for
    while (first := next(iter(seen))) != key and (len(seen) > measure.remembered or seen[first][3] < oldest):
        forgotten = max(forgotten, seen.pop(first)[:3])
    return Memory(seen=seen, forgotten=forgotten)
