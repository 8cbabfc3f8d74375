"""Read the complete lines appended to one file, each once.

An unfinished line is buffered until its newline arrives. A file that became shorter, or whose bytes before the offset
changed, was replaced: it is read from its start, and ``life`` is increased.
"""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

# A longer line is dropped and counted.
MAX_LINE_BYTES = 1 << 20
READ_CHUNK_BYTES = 1 << 18
# Bytes before the offset that are compared to detect a replaced file.
_CONTEXT_BYTES = 256


class TailLine(Struct, frozen=True):
    data: bytes
    end_offset: int
    """The offset after its newline."""


class FileTail:
    """Reader of one growing file; ``is_same_file`` returns True if ``offset`` was stored for the open file."""

    def __init__(self, offset: int = 0, is_same_file: Callable[[int], bool] | None = None):
        self.offset = offset
        """The next byte to read."""
        self._is_same_file = is_same_file
        self.life = 0
        self.dropped = 0
        self.has_unread_data = False
        """The last read did not reach the end of the file."""
        self._partial_line = b""
        self._is_skipping_long_line = False
        self._preceding_bytes = b""

    @property
    def has_partial_line(self) -> bool:
        """Return True if the last line has no newline yet."""
        return bool(self._partial_line) or self._is_skipping_long_line

    @property
    def line_start_offset(self) -> int:
        """The offset at which the unfinished line begins or, if it is too long, of the next byte to read."""
        return self.offset - len(self._partial_line)

    def read_lines(self, descriptor: int) -> list[TailLine]:
        if self._is_replaced(descriptor):
            self._restart()
        if self.offset and not self._preceding_bytes:  # first read at a given offset
            self._align_to_line_start(descriptor)
        data = os.pread(descriptor, READ_CHUNK_BYTES, self.offset)
        # A full chunk may be followed by more; the caller decides when to go on.
        self.has_unread_data = len(data) == READ_CHUNK_BYTES
        self._preceding_bytes = (self._preceding_bytes + data)[-_CONTEXT_BYTES:]
        return [line for line in self._split_lines(data) if line.data.strip()]

    def accept_rewritten_bytes(self, descriptor: int) -> None:
        """Take the bytes before the offset as they are now, after the reader itself has overwritten them."""
        count = min(_CONTEXT_BYTES, self.offset)
        self._preceding_bytes = os.pread(descriptor, count, self.offset - count)

    def _is_replaced(self, descriptor: int) -> bool:
        if os.fstat(descriptor).st_size < self.offset:
            return True
        if self._is_same_file is not None and not self._preceding_bytes:
            return not self._is_same_file(descriptor)
        expected = self._preceding_bytes
        return bool(expected) and os.pread(descriptor, len(expected), self.offset - len(expected)) != expected

    def _restart(self) -> None:
        self.life += 1
        self._is_same_file = None
        self.offset, self._preceding_bytes, self._partial_line, self._is_skipping_long_line = 0, b"", b"", False

    def _align_to_line_start(self, descriptor: int) -> None:
        """Move an initial offset that lies within a line back to the start of that line."""
        start = max(0, self.offset - MAX_LINE_BYTES)
        before = os.pread(descriptor, self.offset - start, start)
        newline = before.rfind(b"\n")
        self._is_skipping_long_line = newline < 0 < start
        if not self._is_skipping_long_line:
            self.offset = start + newline + 1
        self._preceding_bytes = before[: self.offset - start][-_CONTEXT_BYTES:]

    def _split_lines(self, data: bytes) -> Iterator[TailLine]:
        *complete, rest = data.split(b"\n")
        for part in complete:
            self.offset += len(part) + 1
            line, self._partial_line = self._partial_line + part, b""
            if self._is_skipping_long_line or len(line) > MAX_LINE_BYTES:
                self.dropped += 1
                self._is_skipping_long_line = False
            else:
                yield TailLine(line, self.offset)
        self.offset += len(rest)
        self._partial_line += b"" if self._is_skipping_long_line else rest
        if len(self._partial_line) > MAX_LINE_BYTES:
            self._partial_line, self._is_skipping_long_line = b"", True
