"""Lines out of chunks: bounded, and linear however a long line is cut."""

from termvisor.protocol.command_protocol import LINE_LIMIT


class TooLong(ValueError):
    """A line went past the limit; what follows cannot be trusted to start at a line."""


class Lines:
    def __init__(self, limit: int = LINE_LIMIT):
        self._limit, self._data, self._seen = limit, bytearray(), 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete now, without their newline."""
        self._data += chunk
        end = self._data.rfind(b"\n", self._seen)
        if end < 0:
            self._seen = len(self._data)
            self._check(self._seen)
            return []
        whole, self._data = bytes(self._data[:end]), self._data[end + 1 :]
        self._seen = len(self._data)
        lines = whole.split(b"\n")
        self._check(max(self._seen, *map(len, lines)))
        return lines

    def rest(self) -> bytes:
        """What came after the last newline; for a peer that ends without one."""
        return bytes(self._data)

    def _check(self, size: int) -> None:
        if size > self._limit:
            self._data.clear()
            raise TooLong(f"a line is longer than {self._limit} bytes")
