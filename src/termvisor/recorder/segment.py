"""Read one segment of a stream: a file of raw bytes, and an index with the times at which they were read.

A complete segment may be compressed (`compressed_segment.py`), which makes no difference to readers.
The index consists of 16-byte little-endian records: u64 (flag << 56 | end offset in the epoch), u64 realtime ns.
Invariant: reading yields exactly the bytes of the raw file. A damaged or missing index loses times, never bytes.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from termvisor.recorder.compressed_segment import CompressedSegmentFile

FLAG_READ, FLAG_ENDED, FLAG_CAPPED, FLAG_STARVED = 0, 1, 2, 3
"""Record flags: bytes were read, the stream ended, or the recorder closed it: because of a size limit or a full disk
(capped), or because it had no free file descriptor for the log (starved)."""

MAX_PIECE_BYTES = 1 << 16
COMPRESSED_SUFFIX = ".zst"
_RECORD_BYTES = 16
_NAME_LENGTH = 20
_RECORDS_PER_READ = 512
MERGE_WINDOW_NS = 100_000_000
"""Bytes read within this time are returned as one piece, unless the caller passes another window."""
_OFFSET_MASK = (1 << 56) - 1
_TIME_MASK = (1 << 63) - 1
_FILE_TYPE, _REGULAR_FILE = 0o170000, 0o100000


def pack_index_record(flag: int, end: int, at: int) -> bytes:
    return (flag << 56 | end).to_bytes(8, "little") + at.to_bytes(8, "little")


def build_raw_path(folder: str, start: int) -> str:
    return f"{folder}/{start:016d}.raw"


def build_compressed_path(folder: str, start: int) -> str:
    return f"{build_raw_path(folder, start)}{COMPRESSED_SUFFIX}"


def build_index_path(folder: str, start: int) -> str:
    return f"{folder}/{start:016d}.idx"


def list_segment_starts(folder: str) -> list[int]:
    """Return the start offsets of a folder's segments in order, ignoring other files."""
    try:
        names = posix.listdir(folder)
    except OSError:
        # The stream has no bytes yet, or was deleted.
        return []
    raw_names = {name.removesuffix(COMPRESSED_SUFFIX) for name in names}
    numbers = [name[:-4] for name in raw_names if len(name) == _NAME_LENGTH and name.endswith(".raw")]
    return sorted(int(number) for number in numbers if number.isascii() and number.isdigit())


def open_regular_file(path: str) -> int:
    """Open a regular file for reading. Raises FileNotFoundError for anything else: a FIFO would block."""
    fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK)
    if not _is_regular_file(posix.fstat(fd)):
        posix.close(fd)
        raise FileNotFoundError(path)
    return fd


def get_file_size(path: str) -> int:
    """Return the size of a regular file, or 0 if it does not exist."""
    try:
        status = posix.stat(path)
    except FileNotFoundError:
        return 0
    return status.st_size if _is_regular_file(status) else 0


def _is_regular_file(status: posix.stat_result) -> bool:
    return status.st_mode & _FILE_TYPE == _REGULAR_FILE


class RawSegmentFile:
    """An uncompressed segment file, possibly still growing."""

    def __init__(self, path: str):
        self._fd = open_regular_file(path)

    def read_size(self) -> int:
        return posix.fstat(self._fd).st_size

    def read_mtime(self) -> int:
        return posix.fstat(self._fd).st_mtime_ns

    def read(self, count: int, offset: int) -> bytes:
        return posix.pread(self._fd, count, offset)

    def close(self) -> None:
        posix.close(self._fd)


def open_segment_file(folder: str, start: int) -> RawSegmentFile | CompressedSegmentFile:
    """Open the raw file of a segment, or else the compressed one.

    The order matters, because sealing creates the compressed file before it deletes the raw one.
    """
    try:
        return RawSegmentFile(build_raw_path(folder, start))
    except FileNotFoundError:
        # Imported only here: the recorder process never reads compressed segments and stays small.
        from termvisor.recorder.compressed_segment import CompressedSegmentFile

        return CompressedSegmentFile(build_compressed_path(folder, start))


class Segment:
    """A segment opened for reading, possibly still growing."""

    def __init__(self, folder: str, start: int):
        self.start = start
        self._index_path = build_index_path(folder, start)
        self._file = open_segment_file(folder, start)
        self._end = start
        """The end at the last read_end()."""
        self._index_fd = -1
        self._next_record = 0
        self._passed_offset = start
        """All records before `_next_record` end at or before this offset."""

    def close(self) -> None:
        self._file.close()
        if self._index_fd >= 0:
            posix.close(self._index_fd)
        self._index_fd = -1

    def read_end(self) -> int:
        self._end = self.start + self._file.read_size()
        return self._end

    def read_pieces(
        self, offset: int, stop: int, merge_window: int = MERGE_WINDOW_NS
    ) -> Iterator[tuple[int, bytes, int]]:
        """Yield (offset, bytes, time of the last byte) from ``offset`` to ``stop`` or the end of the segment.

        A piece is what was read within ``merge_window`` nanoseconds, or what a single read returned if that is 0.
        """
        # Not a second time if the caller found this segment by its end.
        if stop > self._end:
            stop = min(stop, self.read_end())
        while offset < stop:
            until, at = self._find_merged_end(offset, min(stop, offset + MAX_PIECE_BYTES), merge_window)
            data = self._file.read(until - offset, offset - self.start)
            if not data:
                return
            yield offset, data, at
            offset += len(data)

    def find_read_time(self, offset: int) -> int:
        for _, at in self._read_records_from(offset):
            return at
        return self._find_time_beyond_index()

    def read_closing_record(self) -> tuple[int, int] | None:
        """Return the flag and time of the end record, or None if the stream has none."""
        flag, at = self._read_last_record()
        return (flag, at) if flag else None

    def _find_merged_end(self, offset: int, stop: int, merge_window: int) -> tuple[int, int]:
        """Return the end and time of the piece that starts at ``offset``."""
        until = at = offset
        latest = None
        for end, record_at in self._read_records_from(offset):
            latest = record_at + merge_window if latest is None else latest
            if until > offset and (end > stop or record_at > latest):
                break
            until, at = min(end, stop), record_at
            if until == stop:
                break
        return (until, at) if until > offset else (stop, self._find_time_beyond_index())

    def _read_records_from(self, offset: int) -> Iterator[tuple[int, int]]:
        """Return the next (end, time) records, starting with the first that ends after ``offset``."""
        if offset < self._passed_offset:
            self._seek_record(offset)
        batch = self._read_records(self._next_record, _RECORDS_PER_READ)
        if len(batch) == _RECORDS_PER_READ * 2 and batch[-2] & _OFFSET_MASK <= offset:
            self._seek_record(offset)
            batch = self._read_records(self._next_record, _RECORDS_PER_READ)
        skipped = 0
        while skipped * 2 < len(batch) and batch[skipped * 2] & _OFFSET_MASK <= offset:
            skipped += 1
        self._next_record, self._passed_offset = self._next_record + skipped, offset
        return ((batch[n] & _OFFSET_MASK, batch[n + 1] & _TIME_MASK) for n in range(skipped * 2, len(batch), 2))

    def _seek_record(self, offset: int) -> None:
        low, high = 0, self._count_records()
        while low < high:
            middle = (low + high) // 2
            record = self._read_records(middle, 1)
            if record and record[0] & _OFFSET_MASK <= offset:
                low = middle + 1
            else:
                high = middle
        self._next_record = low

    def _read_records(self, first: int, count: int) -> memoryview[int]:
        data = posix.pread(self._index_fd, count * _RECORD_BYTES, first * _RECORD_BYTES) if self._has_index() else b""
        # Native byte order: all supported machines are little-endian, as the file is.
        return memoryview(data)[: len(data) // _RECORD_BYTES * _RECORD_BYTES].cast("Q")

    def _count_records(self) -> int:
        return posix.fstat(self._index_fd).st_size // _RECORD_BYTES if self._has_index() else 0

    def _read_last_record(self) -> tuple[int, int]:
        count = self._count_records()
        record = self._read_records(count - 1, 1) if count else ()
        return (record[0] >> 56, record[1] & _TIME_MASK) if record else (FLAG_READ, 0)

    def _find_time_beyond_index(self) -> int:
        return max(self._file.read_mtime(), self._read_last_record()[1])

    def _has_index(self) -> bool:
        # The writer creates the raw file a moment before the index.
        if self._index_fd < 0:
            try:
                self._index_fd = open_regular_file(self._index_path)
            except OSError:
                # Without an index, only the times are unknown.
                return False
        return True
