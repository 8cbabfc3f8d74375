"""Settled lines become blocks: what is stored and indexed as one row.

A block spans at most a second, so that the time of any of its lines is known to the second.
"""

from collections.abc import Iterator, Sequence

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import TextBlock
from termvisor.terminal.text_decoder import SettledLine

_MAX_LINES = 32
_MAX_CHARACTERS = 2048
_MAX_SPAN_NS = 1_000_000_000


def build_blocks(epoch: EpochId, lines: Sequence[SettledLine], texts: Sequence[str]) -> Iterator[TextBlock]:
    """``texts`` are the redacted texts of the lines."""
    first = size = 0
    for at, line in enumerate(lines):
        is_full = at - first >= _MAX_LINES or size > _MAX_CHARACTERS or line.at - lines[first].at > _MAX_SPAN_NS
        if at > first and is_full:
            yield _build_block(epoch, lines[first:at], texts[first:at])
            first, size = at, 0
        size += len(texts[at]) + 1
    if lines:
        yield _build_block(epoch, lines[first:], texts[first:])


def _build_block(epoch: EpochId, lines: Sequence[SettledLine], texts: Sequence[str]) -> TextBlock:
    head, tail = lines[0], lines[-1]
    return TextBlock(epoch=epoch, start=head.start, end=tail.end, at=head.at, until=tail.at, lines=tuple(texts))
