"""Track text that is overwritten or erased and may contain a secret.

If a piece of a word remains, the stored line shows only that piece, or the text joined to something written beside it.
If a whole row goes, a program may paint a part of it again elsewhere. So the redactor must see the original once.
"""

import re
from string import ascii_letters, digits

from msgspec import Struct

_PIECE_LENGTH = 8
# In normal output this happens once or twice per line. The limit is for hostile output.
_MAX_OVERWRITES_PER_LINE = 32
_NOTHING_SHOWN = ("", _MAX_OVERWRITES_PER_LINE)
_MAX_LINES = 16
_RUN_CHARACTERS = frozenset(ascii_letters + digits + "_+/%=.~-")
_match_run = re.compile(rf"[\w+/%=.:~-]{{{_PIECE_LENGTH}}}", re.ASCII).match
# Words by which the redactor recognizes the value behind them.
_find_secret_name = re.compile(
    r"(?i:passw|passphrase|pwd|secret|token|key|credential|auth|bearer|basic|cookie|curl)|://", re.ASCII
).search
_MAX_NAME_LENGTH = 10
_LINE_END = "\n"
# Shorter words are no secrets by themselves.
_LONG_RUN_LENGTH = 16
_find_long_run = re.compile(rf"[\w+/%=.~-]{{{_LONG_RUN_LENGTH}}}", re.ASCII).search
# Rows that are erased and painted again need not be recorded each time.
_MAX_RECENT = 64


class OverwrittenLine(Struct, frozen=True, gc=False):
    """The text of the line that begins at ``start``, before it was overwritten."""

    start: int
    text: str


class OverwriteTracker:
    """Recorder of overwritten texts; lines are identified by their start."""

    __slots__ = ("_last_shown", "_overwritten", "_recent")

    def __init__(self) -> None:
        self._overwritten: list[OverwrittenLine] = []
        self._last_shown: dict[int, tuple[str, int]] = {}
        self._recent: dict[int, None] = {}

    def record_overwrite(self, piece: str, start: int, shown: str) -> None:
        """Record the text ``shown`` before an overwrite that leaves ``piece``, unless it has just been recorded."""
        if not self.is_new(piece, start):
            return
        _, remaining = self._last_shown.get(start, _NOTHING_SHOWN)
        if len(self._last_shown) >= _MAX_LINES:
            del self._last_shown[next(iter(self._last_shown))]
        self._last_shown[start] = (shown + _LINE_END, remaining - 1)
        self._overwritten.append(OverwrittenLine(start, shown))

    def is_new(self, piece: str, start: int) -> bool:
        """Return True if the text of the line at ``start`` has not just been recorded, and not too often."""
        last_shown, remaining = self._last_shown.get(start, _NOTHING_SHOWN)
        return remaining > 0 and piece not in last_shown

    def record_loss(self, start: int, shown: str) -> None:
        """Record a line that goes, if it has a long word and was not recorded recently."""
        key = hash(shown)
        if _find_long_run(shown) is None or key in self._recent:
            return
        if len(self._recent) >= _MAX_RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[key] = None
        self._overwritten.append(OverwrittenLine(start, shown))

    def take_overwritten(self) -> tuple[OverwrittenLine, ...]:
        """Return the overwritten lines since the last call."""
        if not self._overwritten:
            return ()
        taken, self._overwritten = tuple(self._overwritten), []
        return taken


def find_remaining_piece(shown: str, start: int, end: int, cells: str) -> str:
    """Return the piece of a word that remains when ``cells`` replace columns ``start`` to ``end``, or "".

    The word is cut, or joined to what is written beside it, so it no longer looks like a secret. The piece
    includes the original character next to it. A value is also a piece if its name, by which it is recognized as a
    secret, is overwritten; and so is a long word of which too little remains, because a program may paint a part of it
    again elsewhere.
    """
    if end and _match_run(shown, end):
        beside = shown[end - 1]
        if beside in _RUN_CHARACTERS or (cells[-1:] or shown[:start][-1:]) in _RUN_CHARACTERS:
            return beside + shown[end : end + _PIECE_LENGTH]
    if start >= _PIECE_LENGTH and _match_run(shown, start - _PIECE_LENGTH):
        beside = shown[start : start + 1] or _LINE_END
        if beside in _RUN_CHARACTERS or (cells[:1] or shown[end : end + 1]) in _RUN_CHARACTERS:
            return shown[start - _PIECE_LENGTH : start] + beside
    if end - start >= _PIECE_LENGTH and (word := _find_covered_word(shown, start, end)) and word not in cells:
        return word
    name = _find_secret_name(shown, max(0, start - _MAX_NAME_LENGTH), end + _MAX_NAME_LENGTH) if start < end else None
    # The whole name counts, such as `api_key` if only `key` was found.
    if name is not None and start < name.end() and " " not in shown[end : name.start()] and shown[end:].strip():
        return shown[max(0, end - 1) : end + _PIECE_LENGTH]
    return ""


def _find_covered_word(shown: str, start: int, end: int) -> str:
    """Return the beginning of a long word of which columns ``start`` to ``end`` cover a piece, or ""."""
    word = _find_long_run(shown, max(0, start - _LONG_RUN_LENGTH), end + _LONG_RUN_LENGTH)
    if word is None or min(end, word.end()) - max(start, word.start()) < _PIECE_LENGTH:
        return ""
    return word[0]
