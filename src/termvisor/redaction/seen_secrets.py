"""Secrets that were seen whole, so that the rest of one is known when something was painted over its beginning.

Remembered are all pieces of eight characters; wherever one of them stands, it is masked. They live in this process
only and are never stored. Their number is bounded, the oldest go first, and all go when nothing was repainted for so
long that no row of theirs can be on a screen any more.
"""

import re

from termvisor.redaction.mask import build_marker, find_masked_parts
from termvisor.redaction.ordinary_words import has_only_words
from termvisor.redaction.value_checks import REDACTION_MARKER

PIECE_CHARS = 8
"""One character more than may stay visible of a secret that a row cut off."""
MAX_PIECES = 4096
"""The private key of a large machine, or fifty tokens."""
FORGET_AFTER_LINES = 500
"""So many lines printed one after another have scrolled every screen away."""
_MIN_DISTINCT_CHARS = 4
"""A piece of fewer different characters (a ruler, zeros in the place of a secret) tells nothing."""
_SECRET_RUN = re.compile(rf"[A-Za-z0-9_+/%-]{{{PIECE_CHARS},}}")


class SeenSecrets:
    """One for all that shows the same pane; not for several threads."""

    def __init__(self) -> None:
        self._kinds_by_piece: dict[str, str] = {}
        """The kind of each piece, those learnt last at the end."""
        self._last_secret_end = ""
        self._has_learnt = False
        self._lines_since_secret = 0

    def __bool__(self) -> bool:
        return bool(self._kinds_by_piece)

    def learn(self, text: str, masked: str, *, is_continuation: bool = False) -> None:
        """What was masked in this line. ``is_rest``: it begins with the rest of what was masked last."""
        kinds = REDACTION_MARKER.findall(masked)
        for start, end in find_masked_parts(text, masked):
            before = self._last_secret_end if is_continuation else ""
            self._add_secret(before + text[start:end], kinds[0][len("[redacted:") : -1])
            is_continuation = False

    def mask_known_pieces(self, text: str) -> str:
        """The line without the pieces that are known."""
        done, at = "", 0
        for run in _SECRET_RUN.finditer(text):
            for start, end, kind in self._find_known_pieces(run[0]):
                done += text[at : run.start() + start] + build_marker(kind)
                at = run.start() + end
        return done + text[at:] if at else text

    def count_lines(self, lines: int, *, is_repainting: bool) -> None:
        """So many lines went by: after enough of them, printed plainly and without a secret, all is forgotten."""
        is_calm = not (is_repainting or self._has_learnt)
        self._lines_since_secret, self._has_learnt = self._lines_since_secret + lines if is_calm else 0, False
        if self._lines_since_secret > FORGET_AFTER_LINES:
            self._kinds_by_piece.clear()
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


def _is_distinctive(piece: str) -> bool:
    return len(set(piece)) >= _MIN_DISTINCT_CHARS and not has_only_words(piece)
