"""Collect output lines that are JSON objects with a leading "type" field, as agents print in streaming mode.

In: settled lines with their redacted texts. Out: the last _MAX_LINES candidates, printed by an unknown program.
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from termvisor.terminal.line_assembler import LINE_LIMIT, SettledLine

_JSON_PREFIX = '{"type":"'
_MAX_LINES = 128


class PrintedLine(Struct, frozen=True):
    """A candidate line; ``end`` is the offset after it in the epoch."""

    at: int
    end: int
    text: str


class JsonLineCollector:
    def __init__(self) -> None:
        self._lines: deque[PrintedLine] = deque(maxlen=_MAX_LINES)
        self._is_last_line_cut = False
        """The last line reached LINE_LIMIT, so the next one is its continuation."""

    def collect_lines(self, lines: Sequence[SettledLine], texts: Sequence[str]) -> None:
        # One search for all lines, because most output has no candidates.
        if _JSON_PREFIX in "\n".join(texts):
            for index, line in enumerate(lines):
                is_continuation = len(lines[index - 1].text) >= LINE_LIMIT if index else self._is_last_line_cut
                if line.text.startswith(_JSON_PREFIX) and _is_whole_line(line) and not is_continuation:
                    self._lines.append(PrintedLine(line.at, line.end, texts[index]))
        if lines:
            self._is_last_line_cut = len(lines[-1].text) >= LINE_LIMIT

    def take_lines(self) -> list[PrintedLine]:
        """Return the lines collected since the last call."""
        taken = list(self._lines)
        self._lines.clear()
        return taken


def _is_whole_line(line: SettledLine) -> bool:
    """Return True if the line has more bytes than its text, which means that a newline ended it."""
    return line.end - line.start > len(line.text.encode("utf-8", "replace"))
