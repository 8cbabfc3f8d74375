"""Lines out of chunks: bounded, and linear however a long line is cut."""

from termvisor.protocol.command_protocol import MAX_LINE_BYTES


class LineTooLong(ValueError):
    """A line went past the limit; what follows cannot be trusted to start at a line."""


class LineBuffer:
    def __init__(self, limit: int = MAX_LINE_BYTES):
        self._limit, self._data, self._scanned = limit, bytearray(), 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete now, without their newline."""
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
        """What came after the last newline; for a peer that ends without one."""
        return bytes(self._data)

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            self._data.clear()
            raise LineTooLong(f"a line is longer than {self._limit} bytes")
