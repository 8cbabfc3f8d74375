"""Split a byte stream into lines, with a size limit; linear time, however a long line is cut into chunks."""

from termvisor.protocol.command_protocol import MAX_LINE_BYTES


class LineTooLong(ValueError):
    """A line exceeded the limit; the rest of the stream is out of sync."""


class LineBuffer:
    def __init__(self, limit: int = MAX_LINE_BYTES):
        self._limit, self._data, self._scanned = limit, bytearray(), 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this chunk completes, without newlines."""
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
        """Return the bytes after the last newline, for a peer that ends without one."""
        return bytes(self._data)

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            self._data.clear()
            raise LineTooLong(f"a line is longer than {self._limit} bytes")
