"""Reads what is added to one file, line by line: every complete line once.

A line without its newline is kept until that comes. A file that got shorter, or whose bytes before our place are no
longer those that we read, is another file under the same name: it is read from its start, in a new life.
"""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

MAX_LINE_BYTES = 1 << 20
"""Bytes of one line; a longer one is dropped and counted."""
READ_CHUNK_BYTES = 1 << 18
"""Bytes of one read."""
_CONTEXT_BYTES = 256


class TailLine(Struct, frozen=True):
    data: bytes
    end_offset: int
    """The offset behind its newline."""


class FileTail:
    """``is_known`` says of an open file whether it is the one in which the offset was found."""

    def __init__(self, offset: int = 0, is_same_file: Callable[[int], bool] | None = None):
        self.offset = offset
        """The next byte to read."""
        self._is_same_file = is_same_file
        self.life = 0
        self.dropped = 0
        self.has_unread_data = False
        """The last read did not come to the end of the file."""
        self._partial_line = b""
        self._is_skipping_long_line = False
        self._preceding_bytes = b""

    @property
    def has_partial_line(self) -> bool:
        """The last line has no newline yet."""
        return bool(self._partial_line) or self._is_skipping_long_line

    @property
    def line_start_offset(self) -> int:
        """Where the line begins that is not yet told; of one that is too long, the next byte to read."""
        return self.offset - len(self._partial_line)

    def read_lines(self, descriptor: int) -> list[TailLine]:
        if self._is_replaced(descriptor):
            self._restart()
        if self.offset and not self._preceding_bytes:
            self._align_to_line_start(descriptor)
        data = os.pread(descriptor, READ_CHUNK_BYTES, self.offset)
        self.has_unread_data = len(data) == READ_CHUNK_BYTES
        self._preceding_bytes = (self._preceding_bytes + data)[-_CONTEXT_BYTES:]
        return [line for line in self._split_lines(data) if line.data.strip()]

    def _is_replaced(self, descriptor: int) -> bool:
        if os.fstat(descriptor).st_size < self.offset:
            return True
        if self._is_same_file is not None and not self._preceding_bytes:
            return not self._is_same_file(descriptor)
        known = self._preceding_bytes
        return bool(known) and os.pread(descriptor, len(known), self.offset - len(known)) != known

    def _restart(self) -> None:
        self.life += 1
        self._is_same_file = None
        self.offset, self._preceding_bytes, self._partial_line, self._is_skipping_long_line = 0, b"", b"", False

    def _align_to_line_start(self, descriptor: int) -> None:
        """We begin behind what was there before; when that ended within a line, we begin with this line."""
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
