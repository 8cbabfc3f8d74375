"""Secrets that were seen whole, so that the rest of one is known when something was painted over its beginning.

Remembered are all pieces of eight characters; wherever one of them stands, it is masked. They live in this process
only and are never stored. Their number is bounded, the oldest go first, and all go when nothing was repainted for so
long that no row of theirs can be on a screen any more.
"""

import re

from termvisor.redaction.mask import marker, replaced
from termvisor.redaction.ordinary_words import is_wordy
from termvisor.redaction.value_checks import MARKER

PIECE = 8
"""One character more than may stay visible of a secret that a row cut off."""
MOST_PIECES = 4096
"""The private key of a large machine, or fifty tokens."""
CALM_LINES = 500
"""So many lines printed one after another have scrolled every screen away."""
_LEAST_SIGNS = 4
"""A piece of fewer different characters (a ruler, zeros in the place of a secret) tells nothing."""
_RUN = re.compile(rf"[A-Za-z0-9_+/%-]{{{PIECE},}}")


class Memory:
    """One for all that shows the same pane; not for several threads."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        """The kind of each piece, those learnt last at the end."""
        self._end = ""
        self._has_learnt = False
        self._calm = 0

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def learn(self, text: str, masked: str, *, is_rest: bool = False) -> None:
        """What was masked in this line. ``is_rest``: it begins with the rest of what was masked last."""
        kinds = MARKER.findall(masked)
        for start, end in replaced(text, masked):
            before = self._end if is_rest else ""
            self._add(before + text[start:end], kinds[0][len("[redacted:") : -1])
            is_rest = False

    def masked(self, text: str) -> str:
        """The line without the pieces that are known."""
        done, at = "", 0
        for run in _RUN.finditer(text):
            for start, end, kind in self._known_in(run[0]):
                done += text[at : run.start() + start] + marker(kind)
                at = run.start() + end
        return done + text[at:] if at else text

    def rest(self, lines: int, *, is_repainting: bool) -> None:
        """So many lines went by: after enough of them, printed plainly and without a secret, all is forgotten."""
        is_calm = not (is_repainting or self._has_learnt)
        self._calm, self._has_learnt = self._calm + lines if is_calm else 0, False
        if self._calm > CALM_LINES:
            self._kinds.clear()
            self._end = ""

    def _add(self, secret: str, kind: str) -> None:
        self._end, self._has_learnt = secret[1 - PIECE :], True
        for run in _RUN.findall(secret):
            for at in range(len(run) - PIECE + 1):
                piece = run[at : at + PIECE]
                if self._kinds.pop(piece, None) or _is_telling(piece):
                    self._kinds[piece] = kind
        for piece in list(self._kinds)[: max(0, len(self._kinds) - MOST_PIECES)]:
            del self._kinds[piece]

    def _known_in(self, run: str) -> list[tuple[int, int, str]]:
        known = self._kinds.keys()
        if known.isdisjoint(pieces := [run[at : at + PIECE] for at in range(len(run) - PIECE + 1)]):
            return []
        found: list[tuple[int, int, str]] = []
        for at, piece in enumerate(pieces):
            if piece in known and found and at < found[-1][1]:
                found[-1] = (found[-1][0], at + PIECE, found[-1][2])
            elif piece in known:
                found.append((at, at + PIECE, self._kinds[piece]))
        return found


def _is_telling(piece: str) -> bool:
    return len(set(piece)) >= _LEAST_SIGNS and not is_wordy(piece)
