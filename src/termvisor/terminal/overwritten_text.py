"""What stood in a line before something was written over it, where a piece is left that may be part of a secret.

The line that settles shows only the piece, or the whole with something written right beside it; whoever looks for
secrets must see the whole once.
"""

import re
from string import ascii_letters, digits

from msgspec import Struct

_PIECE_LENGTH = 8
_MAX_OVERWRITES_PER_LINE = 32
"""A line is written over like this once or twice; one made to be so often is not worth more."""
_RUN_CHARACTERS = frozenset(ascii_letters + digits + "_+/%=.~-")
_match_run = re.compile(rf"[\w+/%=.~-]{{{_PIECE_LENGTH}}}", re.ASCII).match
_LINE_END = "\n"


class OverwrittenLine(Struct, frozen=True, gc=False):
    """The line that begins at ``start``, as it was."""

    start: int
    text: str


class OverwriteTracker:
    """Watches one line at a time."""

    def __init__(self) -> None:
        self._found: list[OverwrittenLine] = []
        self.begin_line()

    def begin_line(self) -> None:
        self._last_shown, self._remaining = "", _MAX_OVERWRITES_PER_LINE

    def record_overwrite(self, piece: str, start: int, shown: str) -> None:
        """The line that began at ``start`` and shows this is about to keep a piece of a run, and lose what it was."""
        if piece not in self._last_shown and self._remaining:
            self._last_shown, self._remaining = shown + _LINE_END, self._remaining - 1
            self._found.append(OverwrittenLine(start, shown))

    def take_overwritten(self) -> tuple[OverwrittenLine, ...]:
        """What was covered since the last time."""
        found, self._found = tuple(self._found), []
        return found


def find_remaining_piece(shown: str, start: int, end: int, cells: str) -> str:
    """A piece that is left of a run when these cells come for the columns from ``start`` to ``end``, or nothing.

    The run is cut, or stays whole and is joined to what comes to stand beside it: then it is no secret's form any more.
    The piece has the character beside it, as it was.
    """
    if end and _match_run(shown, end):
        beside = shown[end - 1]
        if beside in _RUN_CHARACTERS or (cells[-1:] or shown[:start][-1:]) in _RUN_CHARACTERS:
            return beside + shown[end : end + _PIECE_LENGTH]
    if start >= _PIECE_LENGTH and _match_run(shown, start - _PIECE_LENGTH):
        beside = shown[start : start + 1] or _LINE_END
        if beside in _RUN_CHARACTERS or (cells[:1] or shown[end : end + 1]) in _RUN_CHARACTERS:
            return shown[start - _PIECE_LENGTH : start] + beside
    return ""
