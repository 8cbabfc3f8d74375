"""Settled lines become blocks: what is stored and indexed as one row.

A block spans at most a second, so that the time of any of its lines is known to the second.
"""

from collections.abc import Iterator, Sequence

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Block
from termvisor.terminal.text_decoder import Settled

_LINES = 32
_CHARACTERS = 2048
_SPAN = 1_000_000_000


def blocks(epoch: EpochId, lines: Sequence[Settled], texts: Sequence[str]) -> Iterator[Block]:
    """``texts`` are the redacted texts of the lines."""
    first = size = 0
    for at, line in enumerate(lines):
        is_full = at - first >= _LINES or size > _CHARACTERS or line.at - lines[first].at > _SPAN
        if at > first and is_full:
            yield _block(epoch, lines[first:at], texts[first:at])
            first, size = at, 0
        size += len(texts[at]) + 1
    if lines:
        yield _block(epoch, lines[first:], texts[first:])


def _block(epoch: EpochId, lines: Sequence[Settled], texts: Sequence[str]) -> Block:
    head, tail = lines[0], lines[-1]
    return Block(epoch=epoch, start=head.start, end=tail.end, at=head.at, until=tail.at, lines=tuple(texts))
