"""Follow the lines of a pane's window from one commit to the next: which are new, and which were rewritten. Pure.

A line is *complete* once the cursor is below it. It is reported as soon as it is complete, not when it leaves the
window, and again when the program rewrites it. Lines are identified by their index in the epoch.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from zlib import crc32

from msgspec import Struct

from termvisor.terminal.row_window import ProvisionalLine, SettledLine

# A reader that has not read for longer than this many rewritten lines gets them all again.
_MAX_REWRITTEN = 1000

WindowLine = SettledLine | ProvisionalLine


class LineRun(Struct, frozen=True):
    """Consecutive new or rewritten lines; ``first`` is the index of the first of them."""

    first: int
    lines: Sequence[WindowLine]


class WindowLineTracker:
    """Tracker of the lines from index ``first`` on.

    ``checksums`` are those that an earlier tracker had reported; -1 stands for a line that was not reported. At time
    ``rewritten_at`` it saw a line rewritten last, and the first such line is ``first_rewritten`` lines below the first.
    """

    def __init__(self, first: int, checksums: Sequence[int] = (), rewritten_at: int = 0, first_rewritten: int = 0):
        self._first = first
        # An array: a pane has many lines, and there are many panes.
        self._checksums = array("q", checksums)
        self._texts: Sequence[str | None] = (None,) * len(checksums)
        """The texts of the same lines: a row that was not written to still has the same object."""
        self._cursor = -1
        """The place of the line with the cursor."""
        self.rewritten_at = rewritten_at
        """Milliseconds; when a complete line was rewritten last. Rises with each commit that rewrites one."""
        # Which of the lines below were rewritten before a restart is not known, so all of them are read again.
        doubtful = [place for place, checksum in enumerate(checksums) if checksum >= 0 and place >= first_rewritten]
        self._rewritten = {first + place: rewritten_at for place in doubtful if rewritten_at}

    @property
    def checksums(self) -> tuple[int, ...]:
        return tuple(self._checksums)

    @property
    def first_rewritten(self) -> int:
        """Return how far below the first line the first rewritten one is; beyond the last line if there is none."""
        places = [index - self._first for index in self._rewritten if index >= self._first]
        return min(places, default=len(self._checksums))

    def is_tracked(self, first: int, window: Sequence[ProvisionalLine]) -> bool:
        """Return True if track() without settled lines would report nothing: only an incomplete line was rewritten."""
        cursor = self._cursor
        if first != self._first or len(window) != len(self._texts) or not 0 <= cursor < len(window):
            return False
        is_same = window[cursor].text == self._texts[cursor] or self._checksums[cursor] < 0
        if not (is_same and window[cursor].has_cursor):
            return False
        texts = [line.text for line in window]
        return texts[:cursor] == self._texts[:cursor] and texts[cursor + 1 :] == self._texts[cursor + 1 :]

    def track(
        self, first: int, settled: Sequence[SettledLine], window: Sequence[ProvisionalLine], at: int
    ) -> list[LineRun]:
        """Return the lines that are new or differ from what was reported; ``at`` is the time of the last byte.

        ``settled`` are the lines settled since the last call, from index ``first`` on; ``window`` those after them.
        """
        lines: list[WindowLine] = [*settled, *window]
        reported = self._checksums
        # Not of all lines: a flood settles thousands of them at once, which were never in the window.
        compared = [
            before if before >= 0 and line.text is text else _compute_checksum(line.text)
            for line, before, text in zip(lines, reported, self._texts, strict=False)
        ]
        is_same = [checksum == before for checksum, before in zip_longest(compared, reported)]
        if changed := [first + place for place, before in enumerate(reported) if before >= 0 and not is_same[place]]:
            self._record_rewrites(changed, at)
        unchanged = {place for place, same in enumerate(is_same) if same}
        # Lines from the cursor on are incomplete, unless the cursor came back to lines that were reported.
        count, begin = len(lines), len(settled)
        cursor = next((place for place, line in enumerate(window, begin) if line.has_cursor), count)
        incomplete = set(range(cursor, count)) - unchanged
        checksums = [*compared[begin:], *(_compute_checksum(line.text) for line in lines[max(begin, len(compared)) :])]
        self._checksums = array(
            "q", [-1 if place in incomplete else checksum for place, checksum in enumerate(checksums, begin)]
        )
        self._first, self._texts, self._cursor = first + begin, [line.text for line in window], cursor - begin
        return list(_find_runs(lines, first, unchanged | incomplete))

    def find_rewritten(self, since: int) -> list[int]:
        """Return the indexes of the complete lines that were rewritten after ``rewritten_at`` had this value."""
        if since >= self.rewritten_at:
            return []
        return sorted(index for index, at in self._rewritten.items() if at > since)

    def _record_rewrites(self, indexes: Sequence[int], at: int) -> None:
        self.rewritten_at = max(self.rewritten_at + 1, at // 1_000_000)
        for index in indexes:
            self._rewritten.pop(index, None)
            self._rewritten[index] = self.rewritten_at
        while len(self._rewritten) > _MAX_REWRITTEN:
            del self._rewritten[next(iter(self._rewritten))]


def _compute_checksum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _find_runs(lines: Sequence[WindowLine], first: int, known: set[int]) -> Iterator[LineRun]:
    """Yield the runs of lines between those whose place is known; ``first`` is the index of the first line."""
    start = 0
    for place in (*sorted(known), len(lines)):
        if start < place:
            yield LineRun(first + start, lines[start:place])
        start = place + 1
