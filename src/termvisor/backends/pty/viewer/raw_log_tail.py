"""Follow the raw log of a terminal: a descriptor that tells of growth, and the bytes that have not been read."""

import contextlib
import ctypes
import os

from termvisor.recorder.segment_log import SegmentReader

_MODIFY, _CREATE = 0x2, 0x100
_EVENT_BUFFER_BYTES = 1 << 16
_MERGE_WINDOW_NS = 1 << 62


class RawLogTail:
    """The streams of one terminal, one after the other. ``fd`` is readable when there may be more bytes."""

    def __init__(self, raw_dir: str):
        self._raw_dir = raw_dir
        self._library = ctypes.CDLL(None, use_errno=True)
        self.fd = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
        self._reader: SegmentReader | None = None
        self.stream, self.offset = "", 0
        self._next_stream = ""

    def begin_stream(self, stream: str, offset: int = 0) -> None:
        """Continue with a stream; one that is being read is read to its end first."""
        if self._reader is not None and stream != self.stream:
            self._next_stream = stream
        elif self._reader is None:
            self._open(stream, offset)
        self._watch(stream)

    def read(self, limit: int) -> bytes:
        """Return the next bytes; empty if there are none now."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.fd, _EVENT_BUFFER_BYTES)
        data = self._read_stream(limit)
        if not data and self._next_stream and self._reader is not None:
            self._reader.close()
            self._open(self._next_stream, 0)
            self._next_stream = ""
            data = self._read_stream(limit)
        return data

    def has_ended(self) -> bool:
        """Return True if the recorder has closed the stream and all of it was read."""
        if self._reader is None or self._next_stream:
            return self._reader is None
        return self._reader.read_end() is not None and self.offset >= self._reader.read_size()

    def _open(self, stream: str, offset: int) -> None:
        self.stream, self.offset = stream, offset
        self._reader = SegmentReader(f"{self._raw_dir}/{stream}")

    def _read_stream(self, limit: int) -> bytes:
        if self._reader is None:
            return b""
        pieces = []
        for offset, data, _ in self._reader.read_pieces(self.offset, limit, _MERGE_WINDOW_NS):
            pieces.append(data)
            self.offset = offset + len(data)
        return b"".join(pieces)

    def _watch(self, stream: str) -> None:
        folder = f"{self._raw_dir}/{stream}"
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._library.inotify_add_watch(self.fd, os.fsencode(folder), _MODIFY | _CREATE)
