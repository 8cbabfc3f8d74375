"""Write and read the raw log of a stream: a folder of segments, `<start offset>.raw` and `<start offset>.idx`.

Complete segments may be compressed to `<start offset>.raw.zst`, which makes no difference to readers.

A writer always begins a new segment and appends bytes before their index record, so that readers find exactly the
bytes that were written, even if the writer is killed. It also begins one if another program cut or deleted the segment.
"""

from __future__ import annotations

import errno
import posix

from termvisor.recorder.segment import (
    FLAG_CAPPED,
    FLAG_ENDED,
    FLAG_READ,
    FLAG_STARVED,
    MERGE_WINDOW_NS,
    Segment,
    build_index_path,
    build_raw_path,
    get_file_size,
    list_segment_starts,
    pack_index_record,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FLAG_CAPPED", "FLAG_ENDED", "FLAG_STARVED", "MERGE_WINDOW_NS", "SegmentReader", "SegmentWriter"]

_APPEND_FLAGS = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW


class SegmentWriter:
    """Writer that appends to the stream in ``folder`` from ``offset`` on. Times never go below ``last_at``."""

    def __init__(self, folder: str, segment_bytes: int, offset: int = 0, last_at: int = 0):
        self._folder, self._segment_bytes = folder, segment_bytes
        self.offset, self.last_at = offset, last_at
        self._start = offset
        self._raw = self._index = -1
        self._record_count = 0

    def append(self, data: bytes, at: int) -> None:
        """Write bytes that were read at time ``at``. After an OSError, ``offset`` shows how many were written."""
        if self._raw < 0 or self.offset - self._start >= self._segment_bytes or self._is_damaged():
            self._begin_segment()
        written = 0
        try:
            while written < len(data):
                written += posix.write(self._raw, data[written:] if written else data)
        finally:
            if written:
                self._record_read(written, at)

    def write_end(self, flag: int, at: int) -> None:
        """Write the end record with the reason (flag)."""
        if self._raw < 0:
            self._begin_segment()
        self._write_index_record(flag, self.offset, at)

    def close(self) -> None:
        for fd in (self._raw, self._index):
            if fd >= 0:
                posix.close(fd)
        self._raw = self._index = -1

    def _is_damaged(self) -> bool:
        """Return True if another program deleted or cut the segment, whose next bytes would get wrong offsets.

        A new segment keeps the offsets right, and readers find the hole before it.
        """
        status = posix.fstat(self._raw)
        return status.st_size != self.offset - self._start or not status.st_nlink

    def _begin_segment(self) -> None:
        make_folder(self._folder)
        raw = posix.open(build_raw_path(self._folder, self.offset), _APPEND_FLAGS, 0o600)
        try:
            if posix.fstat(raw).st_size:
                raise FileExistsError(
                    errno.EEXIST, "the segment already exists", build_raw_path(self._folder, self.offset)
                )
            index = posix.open(build_index_path(self._folder, self.offset), _APPEND_FLAGS | posix.O_TRUNC, 0o600)
        except OSError:
            posix.close(raw)
            raise
        # Closed only now, because the end record must go to the old segment if there is no space for a new one.
        self.close()
        self._raw, self._index = raw, index
        self._start, self._record_count = self.offset, 0

    def _record_read(self, count: int, at: int) -> None:
        try:
            self._write_index_record(FLAG_READ, self.offset + count, at)
        except OSError:
            posix.ftruncate(self._raw, self.offset - self._start)
            raise
        self.offset += count

    def _write_index_record(self, flag: int, end: int, at: int) -> None:
        at = max(at, self.last_at)
        record = pack_index_record(flag, end, at)
        if posix.write(self._index, record) != len(record):
            posix.ftruncate(self._index, self._record_count * len(record))
            raise OSError(errno.ENOSPC, "no space for the index")
        self._record_count += 1
        self.last_at = at


class SegmentReader:
    """Reader of the stream in ``folder``, even while it is being written. Keeps one segment open until close().

    Deleted or truncated segments leave a hole. read_pieces() stops before a hole; if it starts inside one, it
    continues with the first byte after it, as the returned offset shows.
    """

    def __init__(self, folder: str):
        self._folder = folder
        self._segment: Segment | None = None

    def read_size(self) -> int:
        """Return the current end offset of the stream."""
        starts = list_segment_starts(self._folder)
        if starts and (size := get_file_size(build_raw_path(self._folder, starts[-1]))):
            return starts[-1] + size
        # Compressed, or empty.
        newest = self._open_newest()
        return newest.read_end() if newest else max(starts, default=0)

    def read_end(self) -> tuple[int, int] | None:
        """Return the flag and time of the end record, or None if the stream is open or its writer was killed."""
        segment = self._open_newest()
        return segment.read_closing_record() if segment else None

    def read_pieces(
        self, offset: int, limit: int, merge_window: int = MERGE_WINDOW_NS
    ) -> Iterator[tuple[int, bytes, int]]:
        """Yield at most ``limit`` consecutive bytes from ``offset`` on, as (offset, data, time of the last byte).

        A piece is what was read within ``merge_window`` nanoseconds, or what a single read returned if that is 0.
        """
        segment = self._find_segment(offset)
        offset = max(offset, segment.start) if segment else offset
        stop = offset + limit
        while segment and segment.start <= offset < stop:
            for piece in segment.read_pieces(offset, stop, merge_window):
                yield piece
                offset = piece[0] + len(piece[1])
            segment = self._find_segment(offset) if offset < stop else None

    def find_read_time(self, offset: int) -> int:
        """Return when the byte at ``offset`` (or the nearest stored byte) was read; 0 if nothing is stored."""
        segment = self._find_segment(offset) or self._open_newest()
        return segment.find_read_time(offset) if segment else 0

    def close(self) -> None:
        """Close the descriptors. Reading reopens them."""
        if self._segment:
            self._segment.close()
            self._segment = None

    def _find_segment(self, offset: int) -> Segment | None:
        """Return the segment that contains the byte at ``offset``, or else the next one."""
        current = self._segment
        if current and current.start <= offset < current.read_end():
            return current
        starts = list_segment_starts(self._folder)
        containing = [start for start in starts if start <= offset][-1:]
        later = [start for start in starts if start > offset]
        # Sizes are read after the listing: a segment that has a successor is complete.
        for start in containing + later:
            segment = self._open_segment(start)
            if segment and max(offset, start) < segment.read_end():
                return segment
        return None

    def _open_newest(self) -> Segment | None:
        starts = list_segment_starts(self._folder)
        return self._open_segment(starts[-1]) if starts else None

    def _open_segment(self, start: int) -> Segment | None:
        if self._segment and self._segment.start == start:
            return self._segment
        self.close()
        try:
            self._segment = Segment(self._folder, start)
        except FileNotFoundError:
            # Deleted after it was listed.
            return None
        return self._segment


def make_folder(path: str) -> None:
    """Create a private folder and its parents."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_folder(path.rpartition("/")[0])
        posix.mkdir(path, 0o700)
