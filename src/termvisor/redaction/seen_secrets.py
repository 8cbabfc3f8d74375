"""Remember pieces of secrets that were seen completely, to mask the rest of a secret whose start was painted over.

All pieces of eight characters are masked wherever they occur, and so is a whole value whose name, such as `password=`,
was painted over, if it is shorter or has other characters. They are kept only in memory. Their number
is bounded, the oldest are dropped first, and all are dropped after so many lines printed without repainting that no
row with a secret can still be on a screen.
"""

import re

from termvisor.redaction.mask import build_marker, find_masked_parts
from termvisor.redaction.value_checks import REDACTION_MARKER, has_only_words

PIECE_CHARS = 8
"""One more than may stay visible of a secret cut by the end of a row (`MAX_VISIBLE_CHARS`)."""
MAX_PIECES = 16_384
"""Enough for 200 tokens that are printed and overwritten at once."""
MAX_VALUES = 64
"""Every value is searched in every line while it is remembered."""
FORGET_AFTER_LINES = 500
"""After this many plainly printed lines every screen has scrolled away."""
# A piece with fewer different characters (a ruler, masking zeros) is not distinctive.
_MIN_DISTINCT_CHARS = 4
_MIN_VALUE_CHARS, _MAX_VALUE_CHARS = 4, 256
_NO_WORD = re.compile(r"[^A-Za-z_. -]")
_SECRET_RUN = re.compile(rf"[A-Za-z0-9_+/%-]{{{PIECE_CHARS},}}")


class SeenSecrets:
    """Recently seen secrets, shared by all redactors of one pane; not thread-safe."""

    def __init__(self) -> None:
        self._kinds_by_piece: dict[str, str] = {}
        """The kind of each piece, the most recent piece last."""
        self._values: dict[str, str] = {}
        """The kind of each whole value, the most recent value last."""
        self._last_secret_end = ""
        self._has_learnt = False
        self._lines_since_secret = 0

    def __bool__(self) -> bool:
        return bool(self._kinds_by_piece or self._values)

    def learn(self, text: str, masked: str, *, is_continuation: bool = False) -> None:
        """Remember what was masked in this line, which begins with the rest of the last one if ``is_continuation``."""
        kinds = REDACTION_MARKER.findall(masked)
        for start, end in find_masked_parts(text, masked):
            before = self._last_secret_end if is_continuation else ""
            self._add_secret(before + text[start:end], kinds[0][len("[redacted:") : -1])
            is_continuation = False

    def learn_values(self, text: str, masked: str, *, is_any: bool) -> None:
        """Remember the whole values that were masked in this line; unless ``is_any``, only those that are no words."""
        if text == masked:
            return
        kinds = REDACTION_MARKER.findall(masked)
        for start, end in find_masked_parts(text, masked):
            value = text[start:end]
            if _MIN_VALUE_CHARS <= len(value) <= _MAX_VALUE_CHARS and (is_any or _NO_WORD.search(value)):
                self._values.pop(value, None)
                self._values[value] = kinds[0][len("[redacted:") : -1]
                self._has_learnt = True
        for value in list(self._values)[: max(0, len(self._values) - MAX_VALUES)]:
            del self._values[value]

    def mask_known_pieces(self, text: str) -> str:
        """Mask the known values and pieces in a line."""
        for value, kind in self._values.items():
            if value in text:
                text = _mask_value(text, value, kind)
        done, at = "", 0
        for run in _SECRET_RUN.finditer(text):
            for start, end, kind in self._find_known_pieces(run[0]):
                done += text[at : run.start() + start] + build_marker(kind)
                at = run.start() + end
        return done + text[at:] if at else text

    def count_lines(self, lines: int, *, is_repainting: bool) -> None:
        """Count printed lines, and forget everything after enough lines without a secret or repainting."""
        is_calm = not (is_repainting or self._has_learnt)
        self._lines_since_secret, self._has_learnt = self._lines_since_secret + lines if is_calm else 0, False
        if self._lines_since_secret > FORGET_AFTER_LINES:
            self._kinds_by_piece.clear()
            self._values.clear()
            self._last_secret_end = ""

    def _add_secret(self, secret: str, kind: str) -> None:
        self._last_secret_end, self._has_learnt = secret[1 - PIECE_CHARS :], True
        for run in _SECRET_RUN.findall(secret):
            for at in range(len(run) - PIECE_CHARS + 1):
                piece = run[at : at + PIECE_CHARS]
                if self._kinds_by_piece.pop(piece, None) or _is_distinctive(piece):
                    self._kinds_by_piece[piece] = kind
        for piece in list(self._kinds_by_piece)[: max(0, len(self._kinds_by_piece) - MAX_PIECES)]:
            del self._kinds_by_piece[piece]

    def _find_known_pieces(self, run: str) -> list[tuple[int, int, str]]:
        known = self._kinds_by_piece.keys()
        if known.isdisjoint(pieces := [run[at : at + PIECE_CHARS] for at in range(len(run) - PIECE_CHARS + 1)]):
            return []
        found: list[tuple[int, int, str]] = []
        for at, piece in enumerate(pieces):
            if piece in known and found and at < found[-1][1]:
                found[-1] = (found[-1][0], at + PIECE_CHARS, found[-1][2])
            elif piece in known:
                found.append((at, at + PIECE_CHARS, self._kinds_by_piece[piece]))
        return found


def _mask_value(text: str, value: str, kind: str) -> str:
    """Mask a value where it is no part of a longer word or of a marker."""
    before = "(?<![A-Za-z0-9])" if value[0].isalnum() else ""
    behind = "(?![A-Za-z0-9])" if value[-1].isalnum() else ""
    parts = re.split(f"({REDACTION_MARKER.pattern})", text)
    word = re.compile(before + re.escape(value) + behind)
    return "".join(part if number % 2 else word.sub(build_marker(kind), part) for number, part in enumerate(parts))


def _is_distinctive(piece: str) -> bool:
    return len(set(piece)) >= _MIN_DISTINCT_CHARS and not has_only_words(piece)
