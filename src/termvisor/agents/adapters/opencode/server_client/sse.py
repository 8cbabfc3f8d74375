"""Parse server-sent events from chunks of bytes. Pure.

Invariants: the result does not depend on how the bytes are split into chunks. An event above the size limit is dropped
and counted, because the server is not trusted; parsing continues with the next event.
"""

import re

MAX_EVENT_BYTES = 4 << 20
"""Limit of one event, and of one line."""
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")
_OMITTED_LINE = b":"
"""Replaces a line that is too long: a comment, which is ignored."""


class ServerSentEventParser:
    """Parse one stream; ``dropped_events`` counts events above the limit."""

    def __init__(self, limit: int = MAX_EVENT_BYTES):
        self._max_event_bytes = limit
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_after_return = self._is_too_long = False
        self.dropped_events = 0

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of every event that ends in this chunk."""
        if self._is_after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._is_after_return = False
        if not chunk:
            return []
        self._is_after_return = chunk.endswith(b"\r")
        *lines, rest = _LINE_ENDS.split(chunk)
        events: list[str] = []
        for line in lines:
            whole_line, self._line = bytes(self._line) + line, bytearray()
            if (data := self._parse_line(whole_line)) is not None:
                events.append(data)
        self._line += rest
        if len(self._line) > self._max_event_bytes:
            self._is_too_long, self._line = True, bytearray(_OMITTED_LINE)
        return events

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
        data, is_too_long = self._data, self._is_too_long
        self._data, self._size, self._is_too_long = [], 0, False
        self.dropped_events += is_too_long
        return b"\n".join(data).decode("utf-8", "replace") if data and not is_too_long else None
