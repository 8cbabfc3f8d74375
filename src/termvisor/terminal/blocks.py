"""Group settled lines into blocks, the rows that are stored and indexed.

A block spans at most a second, so that the time of each of its lines is known to the second.
"""

from collections.abc import Iterator, Sequence

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import TextBlock
from termvisor.terminal.text_decoder import SettledLine

_MAX_LINES = 32
_MAX_CHARACTERS = 2048
_MAX_SPAN_NS = 1_000_000_000


def build_blocks(epoch: EpochId, lines: Sequence[SettledLine], texts: Sequence[str]) -> Iterator[TextBlock]:
    """Yield the blocks of consecutive lines; ``texts`` are their redacted texts."""
    first = size = 0
    for index, line in enumerate(lines):
        is_full = index - first >= _MAX_LINES or size > _MAX_CHARACTERS or line.at - lines[first].at > _MAX_SPAN_NS
        if index > first and is_full:
            yield _build_block(epoch, lines[first:index], texts[first:index])
            first, size = index, 0
        size += len(texts[index]) + 1
    if lines:
        yield _build_block(epoch, lines[first:], texts[first:])


def _build_block(epoch: EpochId, lines: Sequence[SettledLine], texts: Sequence[str]) -> TextBlock:
    head, tail = lines[0], lines[-1]
    return TextBlock(epoch=epoch, start=head.start, end=tail.end, at=head.at, until=tail.at, lines=tuple(texts))
