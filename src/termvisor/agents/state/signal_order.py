"""Which of two signals of one source is the newer one.

By the life of the source, its own number, its time, our time, our number. A source's clock that runs ahead of ours is
not followed: it would shut out all that comes later. A source that numbers its signals numbers all of them.
"""

from termvisor.model.agent.signal import Signal

SignalPosition = tuple[int, int, int, int, int]
START_POSITION: SignalPosition = (-1, -1, -1, -1, -1)


def compute_position(signal: Signal) -> SignalPosition:
    """Comparable with those of the same source only."""
    number = -1 if signal.source_seq is None else signal.source_seq
    happened_at = min(signal.event_at, signal.ingested_at)
    return signal.source_life, number, happened_at, signal.ingested_at, signal.id
