"""Which lines of a pane may be meant for programs: an object of JSON that says its type first, alone on its line.

In: settled lines with their redacted texts. Out: few of them, the last ones. Nothing here says who printed them.
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from termvisor.terminal.line_assembler import LINE_LIMIT, SettledLine

_JSON_PREFIX = '{"type":"'
_MAX_LINES = 128


class PrintedLine(Struct, frozen=True):
    """``end`` is just after the line in its epoch."""

    at: int
    end: int
    text: str


class JsonLineCollector:
    def __init__(self) -> None:
        self._lines: deque[PrintedLine] = deque(maxlen=_MAX_LINES)
        self._is_last_line_cut = False
        """The last line was too long, and what comes next is the rest of it."""

    def collect_lines(self, lines: Sequence[SettledLine], texts: Sequence[str]) -> None:
        if _JSON_PREFIX in "\n".join(texts):  # all at once: most output holds none, and there may be much of it
            for place, line in enumerate(lines):
                if (
                    line.text.startswith(_JSON_PREFIX)
                    and _is_whole_line(line)
                    and not self._is_continuation(lines, place)
                ):
                    self._lines.append(PrintedLine(line.at, line.end, texts[place]))
        if lines:
            self._is_last_line_cut = len(lines[-1].text) >= LINE_LIMIT

    def take_lines(self) -> list[PrintedLine]:
        """Those since somebody asked."""
        found = list(self._lines)
        self._lines.clear()
        return found

    def _is_continuation(self, lines: Sequence[SettledLine], place: int) -> bool:
        return len(lines[place - 1].text) >= LINE_LIMIT if place else self._is_last_line_cut


def _is_whole_line(line: SettledLine) -> bool:
    """There is more to it than its text, so a newline ended it. Before it a shell may have set up the terminal."""
    return line.end - line.start > len(line.text.encode("utf-8", "replace"))
