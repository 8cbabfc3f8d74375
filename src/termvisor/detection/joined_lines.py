"""Settled lines as the rules read them: a line that was cut because it had no end is one again.

In: lines as the stream stage settles them, each at most `CUT` characters. Out: whole ones, and where each begins.
"""

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

MAX_LINE_CHARS = 4096
"""A line of exactly this many characters goes on in the next one."""


class JoinedRows(Struct, frozen=True):
    """``starts`` are the offsets of the pieces of a row; ``first`` is the index of its first one."""

    texts: Sequence[str]
    first_lines: Sequence[int]
    piece_starts: Sequence[Sequence[int]]

    def locate_offset(self, row: int, offset: int) -> tuple[int, int]:
        """The line that an offset in a row stands on, and where that line begins."""
        starts = self.piece_starts[row] if self.piece_starts else (0,)
        piece = bisect_right(starts, offset) - 1
        return self.first_lines[row] + piece, starts[piece]

    def is_open(self, row: int) -> bool:
        """It ends in a full piece: more of it may come, so what stands at its very end may go on."""
        last = len(self.texts[row]) - (self.piece_starts[row][-1] if self.piece_starts else 0)
        return last == MAX_LINE_CHARS and row == len(self.texts) - 1


def has_cut_line(text: str) -> bool:
    """Whether one of these lines is as long as those that were cut; in strides, without looking at every line."""
    start = 0
    while len(text) - start >= MAX_LINE_CHARS:
        newline = text.rfind("\n", start, start + MAX_LINE_CHARS)
        if newline < 0:
            return True
        start = newline + 1
    return False


def join_lines(lines: Sequence[str]) -> JoinedRows:
    """The whole rows that these lines make."""
    groups: list[list[str]] = []
    first: list[int] = []
    for index, line in enumerate(lines):
        if index and len(lines[index - 1]) == MAX_LINE_CHARS:
            groups[-1].append(line)
        else:
            groups.append([line])
            first.append(index)
    return JoinedRows(["".join(group) for group in groups], first, [_compute_piece_starts(group) for group in groups])


def _compute_piece_starts(group: list[str]) -> list[int]:
    starts = [0]
    for piece in group[:-1]:
        starts.append(starts[-1] + len(piece))
    return starts
