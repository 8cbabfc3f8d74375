"""Which lines of a pane may be meant for programs: an object of JSON that says its type first, alone on its line.

In: settled lines with their redacted texts. Out: few of them, the last ones. Nothing here says who printed them.
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from termvisor.terminal.line_assembler import LINE_LIMIT, Settled

_OPENING = '{"type":"'
_MOST = 128


class Printed(Struct, frozen=True):
    """``end`` is just after the line in its epoch."""

    at: int
    end: int
    text: str


class Printout:
    def __init__(self) -> None:
        self._lines: deque[Printed] = deque(maxlen=_MOST)
        self._is_cut = False
        """The last line was too long, and what comes next is the rest of it."""

    def take(self, lines: Sequence[Settled], texts: Sequence[str]) -> None:
        if _OPENING in "\n".join(texts):  # all at once: most output holds none, and there may be much of it
            for place, line in enumerate(lines):
                if line.text.startswith(_OPENING) and _is_whole(line) and not self._follows_cut(lines, place):
                    self._lines.append(Printed(line.at, line.end, texts[place]))
        if lines:
            self._is_cut = len(lines[-1].text) >= LINE_LIMIT

    def told(self) -> list[Printed]:
        """Those since somebody asked."""
        found = list(self._lines)
        self._lines.clear()
        return found

    def _follows_cut(self, lines: Sequence[Settled], place: int) -> bool:
        return len(lines[place - 1].text) >= LINE_LIMIT if place else self._is_cut


def _is_whole(line: Settled) -> bool:
    """There is more to it than its text, so a newline ended it. Before it a shell may have set up the terminal."""
    return line.end - line.start > len(line.text.encode("utf-8", "replace"))
