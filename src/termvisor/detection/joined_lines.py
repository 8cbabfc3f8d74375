"""Join lines that were cut at the maximum length, so that rules see the whole line.

In: stored lines of at most `MAX_LINE_CHARS` characters. Out: whole rows, and where each of their lines starts.
"""

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

MAX_LINE_CHARS = 4096
"""A line of exactly this many characters continues in the next one."""


class JoinedRows(Struct, frozen=True):
    """``first_lines`` has the index of each row's first line; ``piece_starts`` the offsets of its lines in the row."""

    texts: Sequence[str]
    first_lines: Sequence[int]
    piece_starts: Sequence[Sequence[int]]

    def locate_offset(self, row: int, offset: int) -> tuple[int, int]:
        """Return the line of an offset in a row, and the offset at which that line starts."""
        starts = self.piece_starts[row] if self.piece_starts else (0,)
        piece = bisect_right(starts, offset) - 1
        return self.first_lines[row] + piece, starts[piece]

    def is_open(self, row: int) -> bool:
        """Return True if the row ends in a full line: more of it may come, so a match at its end may be longer."""
        last = len(self.texts[row]) - (self.piece_starts[row][-1] if self.piece_starts else 0)
        return last == MAX_LINE_CHARS and row == len(self.texts) - 1


def has_cut_line(text: str) -> bool:
    """Return True if one line of the text has the maximum length; searches in strides, not line by line."""
    start = 0
    while len(text) - start >= MAX_LINE_CHARS:
        newline = text.rfind("\n", start, start + MAX_LINE_CHARS)
        if newline < 0:
            return True
        start = newline + 1
    return False


def join_lines(lines: Sequence[str]) -> JoinedRows:
    groups: list[list[str]] = []
    first_lines: list[int] = []
    for index, line in enumerate(lines):
        if index and len(lines[index - 1]) == MAX_LINE_CHARS:
            groups[-1].append(line)
        else:
            groups.append([line])
            first_lines.append(index)
    texts = ["".join(group) for group in groups]
    return JoinedRows(texts, first_lines, [_compute_piece_starts(group) for group in groups])


def _compute_piece_starts(group: list[str]) -> list[int]:
    starts = [0]
    for piece in group[:-1]:
        starts.append(starts[-1] + len(piece))
    return starts
