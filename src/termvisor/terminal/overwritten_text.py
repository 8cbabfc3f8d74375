"""Track text that is overwritten in a line, if a piece remains that may be part of a secret.

The settled line shows only the piece, or the text joined to something written beside it, so the redactor must see the
original once.
"""

import re
from string import ascii_letters, digits

from msgspec import Struct

_PIECE_LENGTH = 8
# In normal output this happens once or twice per line. The limit is for hostile output.
_MAX_OVERWRITES_PER_LINE = 32
_RUN_CHARACTERS = frozenset(ascii_letters + digits + "_+/%=.~-")
_match_run = re.compile(rf"[\w+/%=.~-]{{{_PIECE_LENGTH}}}", re.ASCII).match
_LINE_END = "\n"


class OverwrittenLine(Struct, frozen=True, gc=False):
    """The text of the line that begins at ``start``, before it was overwritten."""

    start: int
    text: str


class OverwriteTracker:
    """Recorder of overwritten texts, one line at a time."""

    def __init__(self) -> None:
        self._overwritten: list[OverwrittenLine] = []
        self.begin_line()

    def begin_line(self) -> None:
        self._last_shown, self._remaining = "", _MAX_OVERWRITES_PER_LINE

    def record_overwrite(self, piece: str, start: int, shown: str) -> None:
        """Record the text ``shown`` before an overwrite that leaves ``piece``, unless it has just been recorded."""
        if piece not in self._last_shown and self._remaining:
            self._last_shown, self._remaining = shown + _LINE_END, self._remaining - 1
            self._overwritten.append(OverwrittenLine(start, shown))

    def take_overwritten(self) -> tuple[OverwrittenLine, ...]:
        """Return the overwritten lines since the last call."""
        taken, self._overwritten = tuple(self._overwritten), []
        return taken


def find_remaining_piece(shown: str, start: int, end: int, cells: str) -> str:
    """Return the piece of a word that remains when ``cells`` replace columns ``start`` to ``end``, or "".

    The word is cut, or joined to what is written beside it, so it no longer looks like a secret. The piece
    includes the original character next to it.
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
