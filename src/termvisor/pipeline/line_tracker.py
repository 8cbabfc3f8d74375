"""Follow the lines of a pane's window from one commit to the next: which are new, and which were rewritten. Pure.

A line is *complete* once the cursor is below it. It is reported as soon as it is complete, not when it leaves the
window, and again when the program rewrites it. Lines are identified by their index in the epoch.
"""

from collections.abc import Iterator, Sequence
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
        self._first, self._end = first, first + len(checksums)
        self._reported = {index: checksum for index, checksum in enumerate(checksums, first) if checksum >= 0}
        self.rewritten_at = rewritten_at
        """Milliseconds; when a complete line was rewritten last. Rises with each commit that rewrites one."""
        # Which of the lines below were rewritten before a restart is not known, so all of them are read again.
        doubtful = [index for index in self._reported if rewritten_at and index >= first + first_rewritten]
        self._rewritten = dict.fromkeys(doubtful, rewritten_at)

    @property
    def checksums(self) -> tuple[int, ...]:
        return tuple(self._reported.get(index, -1) for index in range(self._first, self._end))

    @property
    def first_rewritten(self) -> int:
        """Return how far below the first line the first rewritten one is; beyond the last line if there is none."""
        indexes = [index for index in self._rewritten if index >= self._first]
        return min(indexes, default=self._end) - self._first

    def track(
        self, first: int, settled: Sequence[SettledLine], window: Sequence[ProvisionalLine], at: int
    ) -> list[LineRun]:
        """Return the lines that are new or differ from what was reported; ``at`` is the time of the last byte.

        ``settled`` are the lines settled since the last call, from index ``first`` on; ``window`` those after them.
        """
        lines: list[WindowLine] = [*settled, *window]
        changed = [index for index, checksum in self._reported.items() if not _is_same(lines, index - first, checksum)]
        if changed:
            self._record_rewrites(changed, at)
        unchanged = self._reported.keys() - set(changed)
        self._first, self._end = first + len(settled), first + len(lines)
        # Lines from the cursor on are incomplete, unless the cursor came back to lines that were reported.
        cursor = next((index for index, line in enumerate(window, self._first) if line.has_cursor), self._end)
        incomplete = set(range(cursor, self._end)) - unchanged
        self._reported = {
            index: _compute_checksum(line.text)
            for index, line in enumerate(window, self._first)
            if index not in incomplete
        }
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


def _is_same(lines: Sequence[WindowLine], place: int, checksum: int) -> bool:
    return 0 <= place < len(lines) and _compute_checksum(lines[place].text) == checksum


def _compute_checksum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _find_runs(lines: Sequence[WindowLine], first: int, known: set[int]) -> Iterator[LineRun]:
    """Yield the runs of lines between those whose index is known."""
    start = first
    for index in (*sorted(known), first + len(lines)):
        if start < index <= first + len(lines):
            yield LineRun(start, lines[start - first : index - first])
        start = max(start, index + 1)
