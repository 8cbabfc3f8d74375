"""Recognise pieces of the nonce of the user's shells, and the nonce in base64.

A piece is what is left where a row, a recording or a redrawn screen begins or ends within the nonce. Every piece of at
least `MIN_PIECE_CHARS` characters contains one of a few blocks, for which a text is searched quickly.
"""

import base64
import re

_BLOCK_CHARS = 8
MIN_PIECE_CHARS = 2 * _BLOCK_CHARS - 1
"""A shorter piece may stay visible."""


def list_blocks(nonce: str) -> tuple[str, ...]:
    """Return the blocks of which every piece contains at least one."""
    return tuple(nonce[at : at + _BLOCK_CHARS] for at in range(0, len(nonce) - _BLOCK_CHARS + 1, _BLOCK_CHARS))


def build_piece_pattern(nonce: str) -> str:
    """Return a pattern for the longest piece at a position."""
    parts = []
    for number, block in enumerate(list_blocks(nonce)):
        at, before, behind = number * _BLOCK_CHARS, "", ""
        for character in nonce[max(0, at - _BLOCK_CHARS + 1) : at]:
            before = f"(?:{before}{re.escape(character)})?"
        for character in reversed(nonce[at + _BLOCK_CHARS :]):
            behind = f"(?:{re.escape(character)}{behind})?"
        parts.append(f"{before}{re.escape(block)}{behind}")
    return "(?:" + "|".join(parts) + ")"


class NonceOverwriter:
    """Overwrites the nonce in bytes, also in pieces and in base64, without changing the length."""

    def __init__(self, nonce: str):
        self._whole = tuple(text.encode() for text in (nonce, *_list_encoded_forms(nonce)) if text)
        self._blocks = tuple(block.encode() for block in list_blocks(nonce))
        self._piece = re.compile(build_piece_pattern(nonce).encode()) if self._blocks else None

    def overwrite(self, data: bytes) -> bytes:
        # Nearly all of them are whole, and replacing is much faster than the pattern.
        for text in self._whole:
            data = data.replace(text, b"x" * len(text))
        if self._piece is not None and any(block in data for block in self._blocks):
            data = self._piece.sub(lambda match: b"x" * len(match[0]), data)
        return data


def _list_encoded_forms(nonce: str) -> list[str]:
    """Return the nonce in base64, for each of its possible positions in the encoded bytes."""
    forms = []
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + nonce.encode()).decode()
        # The characters at both ends also depend on the bytes beside the nonce.
        forms.append(text[(shift * 8 + 5) // 6 : (shift + len(nonce)) * 8 // 6])
    return forms
