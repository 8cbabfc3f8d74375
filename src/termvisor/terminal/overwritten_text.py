"""What stood in a line before something was written over it, where a piece is left that may be part of a secret.

The line that settles shows only the piece, or the whole with something written right beside it; whoever looks for
secrets must see the whole once.
"""

import re
from string import ascii_letters, digits

from msgspec import Struct

_PIECE = 8
_MOST = 32
"""A line is written over like this once or twice; one made to be so often is not worth more."""
_IN_RUN = frozenset(ascii_letters + digits + "_+/%=.~-")
_run_at = re.compile(rf"[\w+/%=.~-]{{{_PIECE}}}", re.ASCII).match
_END = "\n"


class Covered(Struct, frozen=True, gc=False):
    """The line that begins at ``start``, as it was."""

    start: int
    text: str


class Covering:
    """Watches one line at a time."""

    def __init__(self) -> None:
        self._found: list[Covered] = []
        self.begin()

    def begin(self) -> None:
        self._last, self._left = "", _MOST

    def cut(self, piece: str, start: int, shown: str) -> None:
        """The line that began at ``start`` and shows this is about to keep a piece of a run, and lose what it was."""
        if piece not in self._last and self._left:
            self._last, self._left = shown + _END, self._left - 1
            self._found.append(Covered(start, shown))

    def take(self) -> tuple[Covered, ...]:
        """What was covered since the last time."""
        found, self._found = tuple(self._found), []
        return found


def left_of(shown: str, start: int, end: int, cells: str) -> str:
    """A piece that is left of a run when these cells come for the columns from ``start`` to ``end``, or nothing.

    The run is cut, or stays whole and is joined to what comes to stand beside it: then it is no secret's form any more.
    The piece has the character beside it, as it was.
    """
    if end and _run_at(shown, end):
        beside = shown[end - 1]
        if beside in _IN_RUN or (cells[-1:] or shown[:start][-1:]) in _IN_RUN:
            return beside + shown[end : end + _PIECE]
    if start >= _PIECE and _run_at(shown, start - _PIECE):
        beside = shown[start : start + 1] or _END
        if beside in _IN_RUN or (cells[:1] or shown[end : end + 1]) in _IN_RUN:
            return shown[start - _PIECE : start] + beside
    return ""
