"""Reads what is added to one file, line by line: every complete line once.

A line without its newline is kept until that comes. A file that got shorter, or whose bytes before our place are no
longer those that we read, is another file under the same name: it is read from its start, in a new life.
"""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

LONGEST = 1 << 20
"""Bytes of one line; a longer one is dropped and counted."""
PIECE = 1 << 18
"""Bytes of one read."""
_REMEMBERED = 256


class Line(Struct, frozen=True):
    data: bytes
    end: int
    """The offset behind its newline."""


class Tail:
    """``is_known`` says of an open file whether it is the one in which the offset was found."""

    def __init__(self, offset: int = 0, is_known: Callable[[int], bool] | None = None):
        self.offset = offset
        """The next byte to read."""
        self._is_known = is_known
        self.life = 0
        self.dropped = 0
        self.has_more = False
        """The last read did not come to the end of the file."""
        self._partial = b""
        self._is_too_long = False
        self._before = b""

    @property
    def is_torn(self) -> bool:
        """The last line has no newline yet."""
        return bool(self._partial) or self._is_too_long

    @property
    def place(self) -> int:
        """Where the line begins that is not yet told; of one that is too long, the next byte to read."""
        return self.offset - len(self._partial)

    def read(self, descriptor: int) -> list[Line]:
        if self._is_another(descriptor):
            self._begin_again()
        if self.offset and not self._before:
            self._find_place(descriptor)
        data = os.pread(descriptor, PIECE, self.offset)
        self.has_more = len(data) == PIECE
        self._before = (self._before + data)[-_REMEMBERED:]
        return [line for line in self._cut(data) if line.data.strip()]

    def _is_another(self, descriptor: int) -> bool:
        if os.fstat(descriptor).st_size < self.offset:
            return True
        if self._is_known is not None and not self._before:
            return not self._is_known(descriptor)
        known = self._before
        return bool(known) and os.pread(descriptor, len(known), self.offset - len(known)) != known

    def _begin_again(self) -> None:
        self.life += 1
        self._is_known = None
        self.offset, self._before, self._partial, self._is_too_long = 0, b"", b"", False

    def _find_place(self, descriptor: int) -> None:
        """We begin behind what was there before; when that ended within a line, we begin with this line."""
        start = max(0, self.offset - LONGEST)
        before = os.pread(descriptor, self.offset - start, start)
        newline = before.rfind(b"\n")
        self._is_too_long = newline < 0 < start
        if not self._is_too_long:
            self.offset = start + newline + 1
        self._before = before[: self.offset - start][-_REMEMBERED:]

    def _cut(self, data: bytes) -> Iterator[Line]:
        *complete, rest = data.split(b"\n")
        for part in complete:
            self.offset += len(part) + 1
            line, self._partial = self._partial + part, b""
            if self._is_too_long or len(line) > LONGEST:
                self.dropped += 1
                self._is_too_long = False
            else:
                yield Line(line, self.offset)
        self.offset += len(rest)
        self._partial += b"" if self._is_too_long else rest
        if len(self._partial) > LONGEST:
            self._partial, self._is_too_long = b"", True
