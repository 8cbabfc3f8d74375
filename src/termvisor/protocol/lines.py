"""Split a byte stream into lines, and format a starting daemon's error as lines on stderr."""

import re

from termvisor.errors import VisorError, find_error_class
from termvisor.protocol.command_protocol import MAX_LINE_BYTES

_ERROR_LINE = re.compile(r"^visor: ([a-z_]+): (.*)\n(.*)", re.MULTILINE)


class LineTooLong(ValueError):
    """A line exceeded the limit; the rest of the stream is out of sync."""


class LineBuffer:
    """Assembles chunks into lines of limited size, in linear time no matter how a long line is split."""

    def __init__(self, limit: int = MAX_LINE_BYTES):
        self._limit, self._data, self._scanned = limit, bytearray(), 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines completed by this chunk, without newlines."""
        self._data += chunk
        end = self._data.rfind(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._data)
            self._check_size(self._scanned)
            return []
        whole, self._data = bytes(self._data[:end]), self._data[end + 1 :]
        self._scanned = len(self._data)
        lines = whole.split(b"\n")
        self._check_size(max(self._scanned, *map(len, lines)))
        return lines

    def get_rest(self) -> bytes:
        """Return the bytes after the last newline, for a peer that closes without sending one."""
        return bytes(self._data)

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            self._data.clear()
            raise LineTooLong(f"a line is longer than {self._limit} bytes")


def format_error(error: VisorError) -> str:
    """Format an error for `parse_last_error`: ``visor: <code>: <message>``, then the hint."""
    return f"visor: {error.code}: {' '.join(error.message.split())}\n{error.hint}\n"


def parse_last_error(text: str) -> VisorError | None:
    """Return the last error in the text; None if there is none."""
    errors = _ERROR_LINE.findall(text)
    if not errors:
        return None
    code, message, hint = errors[-1]
    error_class = find_error_class(code)
    # Another program's line may look the same, but has no known code.
    return error_class(message, hint=hint) if error_class.code == code else None
