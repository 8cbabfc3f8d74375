"""Rewrite text for the search index, so that its words are found in every script.

FTS5's unicode61 splits words at blanks and punctuation, and drops symbols. The rewritten text makes each character of a
script without blanks, each Korean syllable, each emoji and each icon of a private font a word of its own; ligatures and
full-width letters become plain letters, soft hyphens disappear. Text without such characters is returned unchanged.

Invariant: the result never changes for a given text. FTS5 removes a row from an index by the text that was indexed, so
everything here is listed by code point, and nothing depends on the Unicode version of Python. A change needs a
migration that rebuilds the indexes.
"""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Literal

from msgspec import Struct

_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f"
    "\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0f97\u0f99-\u0fbc\u0fc6\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    "\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u1a55-\u1a5e\u1a60-\u1a7c\u1a7f"
    "\u1b00-\u1b04\u1b34-\u1b44\u3099\u309a\ua980-\ua983\ua9b3-\ua9c0\ua9e5\uaa7b-\uaa7d\uaab0-\uaac1"
)
"""Vowel signs and tones of the scripts below. They are not letters to unicode61, but distinguish words."""
EMOJI_RANGES = (
    "\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001faff"
)
"""The body of a character class."""
_LETTERS = (
    "\u0e01-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff\uaa60-\uaadf"  # Southeast Asia
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"  # Korean
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"  # Kana
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uf900-\ufaff"  # Chinese, Yi
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\ue000-\uf8ff\U000f0000-\U000ffffd"  # private fonts: icons that prompts put next to words
)
"""Characters that unicode61 joins to the letters around them."""
_IGNORED = "\u00ad\u2060\ufeff"
_LIGATURES = dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
_FULL_WIDTH = "\uff01-\uff5e"
_HALF_WIDTH_KANA = "\uff66-\uff9f"

# Several code points that are one character: Korean in parts, and kana with a separate voicing sign.
_COMPOSED = "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u3046-\u30fd][\u3099\u309a]|[\uff66-\uff9d][\uff9e\uff9f]"
_SEPARATED = f"{_LETTERS}{_MARKS}{EMOJI_RANGES}{_HALF_WIDTH_KANA}"
_RESPELLED = f"{_IGNORED}{''.join(_LIGATURES)}{_FULL_WIDTH}"
_PIECE = re.compile(f"{_COMPOSED}|[{_SEPARATED}{_RESPELLED}]")
_RUN = re.compile(f"[{_SEPARATED}]+|[{_RESPELLED}]")
# Everything in a run that is not simply a letter.
_COMPLEX = re.compile(f"[\u1100-\u11ff{_MARKS}{EMOJI_RANGES}{_HALF_WIDTH_KANA}{_RESPELLED}]")
_MAX_KNOWN_REPLACEMENTS = 10_000
_SYMBOL = re.compile(f"[{_MARKS}{EMOJI_RANGES}]")


def rewrite_for_index(text: str) -> str:
    """Return the text as it is indexed; an equal string if nothing in it needs rewriting."""
    return text if text.isascii() else _RUN.sub(_rewrite_run, text)


def _rewrite_run(match: re.Match[str]) -> str:
    run = match[0]
    if _COMPLEX.search(run):
        return _PIECE.sub(lambda piece: _REPLACEMENTS[piece[0]], run)
    # Five times as fast as a replacement for each character.
    return f" {' '.join(run)} "


def is_rewritten(text: str) -> bool:
    """Return True if the text is indexed in another form than its own."""
    return not text.isascii() and _PIECE.search(text) is not None


class OffsetMap:
    """The rewritten form of a text, with byte offsets that can be traced back to the original."""

    def __init__(self, text: str):
        pieces = _split_pieces(text)
        self.data = b"".join(piece.rewritten for piece in pieces)
        self._pieces = pieces
        self._starts = list(accumulate((len(piece.rewritten) for piece in pieces), initial=0))[:-1]
        self._original_starts = list(accumulate((piece.original_size for piece in pieces), initial=0))[:-1]

    def find_original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the bytes of the original text from which these rewritten bytes were made."""
        first, last = self._find_piece(start), self._find_piece(end - 1)
        return self._find_offset(first, start, is_end=False), self._find_offset(last, end, is_end=True)

    def _find_piece(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _find_offset(self, index: int, offset: int, *, is_end: bool) -> int:
        piece, start = self._pieces[index], self._original_starts[index]
        if piece.is_unchanged:
            return start + offset - self._starts[index]
        # A replaced character has no parts: a span that touches it contains all of it.
        return start + (piece.original_size if is_end else 0)


class _TextPiece(Struct, frozen=True):
    rewritten: bytes
    original_size: int
    is_unchanged: bool


def _split_pieces(text: str) -> list[_TextPiece]:
    pieces, position = [], 0
    for match in _PIECE.finditer(text):
        pieces += _build_unchanged(text[position : match.start()])
        pieces.append(_TextPiece(_REPLACEMENTS[match[0]].encode(), len(match[0].encode()), is_unchanged=False))
        position = match.end()
    return pieces + _build_unchanged(text[position:])


def _build_unchanged(text: str) -> list[_TextPiece]:
    data = text.encode("utf-8", "replace")
    return [_TextPiece(data, len(data), is_unchanged=True)] if data else []


class _ReplacementTable(dict[str, str]):
    """The replacement of each matched text, computed when it is first met."""

    def __missing__(self, piece: str) -> str:
        replacement = _build_replacement(piece)
        # No real text has more different characters; random bytes must not fill the memory.
        if len(self) < _MAX_KNOWN_REPLACEMENTS:
            self[piece] = replacement
        return replacement


_REPLACEMENTS = _ReplacementTable({**_LIGATURES, **dict.fromkeys(_IGNORED, "")})


def _build_replacement(piece: str) -> str:
    if "\uff01" <= piece <= "\uff5e":
        return chr(ord(piece) - 0xFEE0)
    # These compositions are the same in every version of Unicode.
    form: Literal["NFC", "NFKC"] = "NFKC" if piece[0] >= "\uff66" else "NFC"
    is_composed = len(piece) > 1 or "\uff66" <= piece <= "\uff9f"
    characters = unicodedata.normalize(form, piece) if is_composed else piece
    return "".join(f" {_replace_symbol(character)} " for character in characters)


def _replace_symbol(character: str) -> str:
    """Return a private character for a symbol, because unicode61 drops symbols; other characters are returned as is."""
    if not _SYMBOL.match(character):
        return character
    code = ord(character)
    # Above the icons that fonts define there (up to U+F1AF0), and below U+100000, where unicode61 drops everything.
    return chr(code + (0xF4000 if code < 0x10000 else 0xE0000))
