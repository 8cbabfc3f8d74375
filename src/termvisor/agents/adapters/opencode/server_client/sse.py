"""Server-sent events out of bytes that come in any pieces. Pure.

Invariant: how the bytes are cut changes nothing. What is longer than the limit is left out and counted, for who sends
it is not trusted; what comes after it is read again.
"""

import re

LIMIT = 4 << 20
"""Bytes of one event, and of one line."""
_ENDS = re.compile(rb"\r\n|\n|\r")
_LEFT_OUT = b":"
"""Stands for the rest of a line that is too long: a comment."""


class Events:
    def __init__(self, limit: int = LIMIT):
        self._limit = limit
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_after_return = self._is_long = False
        self.dropped = 0

    def feed(self, piece: bytes) -> list[str]:
        """The data of every event that ends in this piece."""
        if self._is_after_return and piece.startswith(b"\n"):
            piece = piece[1:]
            self._is_after_return = False
        if not piece:
            return []
        self._is_after_return = piece.endswith(b"\r")
        *lines, rest = _ENDS.split(piece)
        found: list[str] = []
        for line in lines:
            whole, self._line = bytes(self._line) + line, bytearray()
            if (data := self._take(whole)) is not None:
                found.append(data)
        self._line += rest
        if len(self._line) > self._limit:
            self._is_long, self._line = True, bytearray(_LEFT_OUT)
        return found

    def _take(self, line: bytes) -> str | None:
        if not line:
            return self._end()
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._size += len(value) + 1
            self._data.append(value)
        if len(line) > self._limit or self._size > self._limit:
            self._is_long = True
            self._data.clear()
        return None

    def _end(self) -> str | None:
        data, is_long = self._data, self._is_long
        self._data, self._size, self._is_long = [], 0, False
        self.dropped += is_long
        return b"\n".join(data).decode("utf-8", "replace") if data and not is_long else None
