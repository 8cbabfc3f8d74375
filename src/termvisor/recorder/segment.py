"""One segment of a stream: a file of raw bytes, and beside it an index that says when each of them was read.

A complete segment may be packed (`packed.py`); it reads byte for byte and time for time as before.
The index is made of 16-byte little-endian records: u64 (flag << 56 | end offset in the epoch), u64 realtime ns.
Reading yields only bytes that stand in the raw file; an index that is torn, short or missing costs times, not bytes.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from termvisor.recorder.compressed_segment import CompressedSegmentFile

FLAG_READ, FLAG_ENDED, FLAG_CAPPED = 0, 1, 2
"""Flags: bytes were read; the stream ended; the recorder closed it (cap, or the disk is full)."""

MAX_PIECE_BYTES = 1 << 16
COMPRESSED_SUFFIX = ".zst"
_RECORD_BYTES = 16
_NAME_LENGTH = 20
_RECORDS_PER_READ = 512
MERGE_WINDOW_NS = 100_000_000
"""Nanoseconds: bytes that were read so closely after each other are one piece, unless it matters."""
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
    """The start offsets of the segments that are there, in order; files of other names are not ours."""
    try:
        names = posix.listdir(folder)
    except OSError:
        return []
    found = {name.removesuffix(COMPRESSED_SUFFIX) for name in names}
    return sorted(
        int(name[:-4])
        for name in found
        if len(name) == _NAME_LENGTH and name.endswith(".raw") and _is_numeric_name(name)
    )


def open_regular_file(path: str) -> int:
    """A descriptor to read it. What is no plain file counts as not there: a pipe would block, a folder has no bytes."""
    fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK)
    if not _is_regular_file(posix.fstat(fd)):
        posix.close(fd)
        raise FileNotFoundError(path)
    return fd


def get_file_size(path: str) -> int:
    """0 where there is no plain file."""
    try:
        found = posix.stat(path)
    except FileNotFoundError:
        return 0
    return found.st_size if _is_regular_file(found) else 0


def _is_regular_file(status: posix.stat_result) -> bool:
    return status.st_mode & _FILE_TYPE == _REGULAR_FILE


def _is_numeric_name(name: str) -> bool:
    return name.isascii() and name[:-4].isdigit()


class RawSegmentFile:
    """The bytes of a segment as they were written, also while it grows."""

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
    """In this order: a segment that is packed while we look has its packed file before it loses the other."""
    try:
        return RawSegmentFile(build_raw_path(folder, start))
    except FileNotFoundError:
        from termvisor.recorder.compressed_segment import CompressedSegmentFile  # never loaded by the recorder itself

        return CompressedSegmentFile(build_compressed_path(folder, start))


class Segment:
    """A segment opened for reading, also while it grows."""

    def __init__(self, folder: str, start: int):
        self.start = start
        self._index_path = build_index_path(folder, start)
        self._file = open_segment_file(folder, start)
        self._index_fd = -1
        self._next_record = 0
        self._passed_offset = start
        """All records before `_record` end at or before this offset."""

    def close(self) -> None:
        self._file.close()
        if self._index_fd >= 0:
            posix.close(self._index_fd)
        self._index_fd = -1

    def read_end(self) -> int:
        return self.start + self._file.read_size()

    def read_pieces(
        self, offset: int, stop: int, merge_window: int = MERGE_WINDOW_NS
    ) -> Iterator[tuple[int, bytes, int]]:
        """Consecutive bytes from ``offset`` to ``stop`` or to the end, with the time at which the last was read.

        A piece is what was read ``within`` so many nanoseconds; 0 gives what was read at once.
        """
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
        """Flag and time of the record that closed the stream, if one did."""
        flag, at = self._read_last_record()
        return (flag, at) if flag else None

    def _find_merged_end(self, offset: int, stop: int, merge_window: int) -> tuple[int, int]:
        """How far the bytes from ``offset`` on were read at about the same time, and when."""
        until = at = offset
        latest = None
        for end, when in self._read_records_from(offset):
            latest = when + merge_window if latest is None else latest
            if until > offset and (end > stop or when > latest):
                break
            until, at = min(end, stop), when
            if until == stop:
                break
        return (until, at) if until > offset else (stop, self._find_time_beyond_index())

    def _read_records_from(self, offset: int) -> Iterator[tuple[int, int]]:
        """Some (end, time) records from the first that reaches beyond ``offset``."""
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
        # Native order: the machines we run on are little-endian, as the file is.
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
        # A young segment may have its raw file a moment before its index.
        if self._index_fd < 0:
            try:
                self._index_fd = open_regular_file(self._index_path)
            except OSError:
                return False
        return True
