"""Collect output lines that are JSON objects with a leading "type" field, as agents print in streaming mode.

In: the text of an epoch after each read. Out: the last _MAX_LINES candidates, printed by an unknown program.
"""

from collections import deque

from msgspec import Struct

from termvisor.pipeline.epoch_text import EpochText

_JSON_PREFIX = '{"type":"'
_PREFIX_BYTES = _JSON_PREFIX.encode()
_MAX_LINES = 128


class PrintedLine(Struct, frozen=True):
    """A candidate line; ``end`` is the offset after it in the epoch."""

    at: int
    end: int
    text: str


class JsonLineCollector:
    def __init__(self, first_index: int) -> None:
        self._next_index = first_index
        self._lines: deque[PrintedLine] = deque(maxlen=_MAX_LINES)
        self._last_bytes = b""
        self._is_line_begun = False

    def collect_lines(self, text: EpochText, data: bytes) -> None:
        """Collect the lines that are complete after these bytes."""
        # Most output has no candidates, so the bytes are searched first.
        is_candidate = self._is_line_begun or _PREFIX_BYTES in self._last_bytes + data
        self._last_bytes = (self._last_bytes + data[-len(_PREFIX_BYTES) :])[-len(_PREFIX_BYTES) :]
        if not is_candidate:
            return
        lines = text.list_complete_lines(self._next_index)
        self._next_index = max(self._next_index, text.first_index) + len(lines)
        self._lines.extend(
            PrintedLine(line.at, line.end, redacted)
            for line, redacted in lines
            # A line that was cut at the length limit does not end with the object.
            if redacted.startswith(_JSON_PREFIX) and redacted.endswith("}")
        )
        self._is_line_begun = text.decoder.cursor_text.startswith(_JSON_PREFIX)

    def take_lines(self) -> list[PrintedLine]:
        """Return the lines collected since the last call."""
        taken = list(self._lines)
        self._lines.clear()
        return taken
