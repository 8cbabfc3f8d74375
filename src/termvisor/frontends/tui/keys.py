"""Keys out of the bytes that a terminal sends; a sequence may come in pieces."""

import re
from collections.abc import Mapping

_NAMES = {
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
_KEY = re.compile(rb"\x1b(?:\[[0-9;?]*[@-~]|O.)|[^\x1b]|\x1b(?=\x1b)", re.DOTALL)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;?]*|O)?$")
_LONGEST = 32


class Keys:
    def __init__(self, names: Mapping[bytes, str] = _NAMES) -> None:
        self._names = names
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """The names of the keys that are complete now; others are passed over."""
        text = self._rest + data
        unfinished = _UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._rest = text[end:][:_LONGEST]
        return [self._names[key] for key in _KEY.findall(text[:end]) if key in self._names]
