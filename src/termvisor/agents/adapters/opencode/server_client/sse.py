"""Server-sent events out of bytes that come in any pieces. Pure.

Invariant: how the bytes are cut changes nothing. What is longer than the limit is left out and counted, for who sends
it is not trusted; what comes after it is read again.
"""

import re

MAX_EVENT_BYTES = 4 << 20
"""Bytes of one event, and of one line."""
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")
_OMITTED_LINE = b":"
"""Stands for the rest of a line that is too long: a comment."""


class ServerSentEventParser:
    def __init__(self, limit: int = MAX_EVENT_BYTES):
        self._max_event_bytes = limit
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_after_return = self._is_too_long = False
        self.dropped_events = 0

    def feed(self, chunk: bytes) -> list[str]:
        """The data of every event that ends in this piece."""
        if self._is_after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._is_after_return = False
        if not chunk:
            return []
        self._is_after_return = chunk.endswith(b"\r")
        *lines, rest = _LINE_ENDS.split(chunk)
        found: list[str] = []
        for line in lines:
            whole, self._line = bytes(self._line) + line, bytearray()
            if (data := self._parse_line(whole)) is not None:
                found.append(data)
        self._line += rest
        if len(self._line) > self._max_event_bytes:
            self._is_too_long, self._line = True, bytearray(_OMITTED_LINE)
        return found

    def _parse_line(self, line: bytes) -> str | None:
        if not line:
            return self._finish_event()
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._size += len(value) + 1
            self._data.append(value)
        if len(line) > self._max_event_bytes or self._size > self._max_event_bytes:
            self._is_too_long = True
            self._data.clear()
        return None

    def _finish_event(self) -> str | None:
        data, is_long = self._data, self._is_too_long
        self._data, self._size, self._is_too_long = [], 0, False
        self.dropped_events += is_long
        return b"\n".join(data).decode("utf-8", "replace") if data and not is_long else None
