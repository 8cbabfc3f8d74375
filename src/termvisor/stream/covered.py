"""What stood in a line before something was written over it, where a piece is left that may be part of a secret.

The line that settles shows only the piece; whoever looks for secrets must see the whole once.
"""

import re

from msgspec import Struct

_PIECE = 8
_MOST = 16
"""A line is written over like this once or twice; one made to be so often is not worth more."""
_cut_at = re.compile(rf"[\w+/%=.~-]{{{_PIECE + 1}}}", re.ASCII).match


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
        """The line that began at ``start`` and shows this is about to keep a piece of a run, and lose the rest."""
        if piece not in self._last and self._left:
            self._last, self._left = shown, self._left - 1
            self._found.append(Covered(start, shown))

    def take(self) -> tuple[Covered, ...]:
        """What was covered since the last time."""
        found, self._found = tuple(self._found), []
        return found


def left_of(shown: str, start: int, end: int) -> re.Match[str] | None:
    """A piece that is left of a run when the columns from ``start`` to ``end`` go, with a character that goes."""
    behind = _cut_at(shown, end - 1) if end else None
    return behind or (_cut_at(shown, start - _PIECE) if start >= _PIECE else None)
