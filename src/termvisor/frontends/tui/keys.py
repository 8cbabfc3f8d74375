"""Decode named keys from terminal input; an escape sequence may arrive in pieces."""

import re
from collections.abc import Mapping

_TABLE_KEYS = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"k": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"j": "down",
    b"\x1b[5~": "page_up",
    b"\x1b[6~": "page_down",
    b" ": "page_down",
    b"\x1b[H": "home",
    b"\x1bOH": "home",
    b"\x1b[1~": "home",
    b"g": "home",
    b"\x1b[F": "end",
    b"\x1bOF": "end",
    b"\x1b[4~": "end",
    b"G": "end",
    b"q": "quit",
    b"Q": "quit",
    b"\x03": "quit",
}
_KEY_PATTERN = re.compile(rb"\x1b(?:\[[0-9;?]*[@-~]|O.)|[^\x1b]|\x1b(?=\x1b)", re.DOTALL)
_UNFINISHED_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?]*|O)?$")
_MAX_SEQUENCE_BYTES = 32


class KeyDecoder:
    def __init__(self, names: Mapping[bytes, str] = _TABLE_KEYS) -> None:
        self._keys_by_bytes = names
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the names of the keys that this data completes; unknown keys are dropped."""
        text = self._rest + data
        unfinished = _UNFINISHED_SEQUENCE.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._rest = text[end:][:_MAX_SEQUENCE_BYTES]
        return [self._keys_by_bytes[key] for key in _KEY_PATTERN.findall(text[:end]) if key in self._keys_by_bytes]
