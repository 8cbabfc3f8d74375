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

    from termvisor.recorder.compressed_segment import PackedFile

READ, ENDED, CAPPED = 0, 1, 2
"""Flags: bytes were read; the stream ended; the recorder closed it (cap, or the disk is full)."""

PIECE_BYTES = 1 << 16
PACKED = ".zst"
_RECORD = 16
_NAME = 20
_BATCH = 512
TOGETHER = 100_000_000
"""Nanoseconds: bytes that were read so closely after each other are one piece, unless it matters."""
_OFFSET_MASK = (1 << 56) - 1
_TIME_MASK = (1 << 63) - 1
_FILE_TYPE, _REGULAR = 0o170000, 0o100000


def pack(flag: int, end: int, at: int) -> bytes:
    return (flag << 56 | end).to_bytes(8, "little") + at.to_bytes(8, "little")


def raw_name(folder: str, start: int) -> str:
    return f"{folder}/{start:016d}.raw"


def packed_name(folder: str, start: int) -> str:
    return f"{raw_name(folder, start)}{PACKED}"


def index_name(folder: str, start: int) -> str:
    return f"{folder}/{start:016d}.idx"


def starts(folder: str) -> list[int]:
    """The start offsets of the segments that are there, in order; files of other names are not ours."""
    try:
        names = posix.listdir(folder)
    except OSError:
        return []
    found = {name.removesuffix(PACKED) for name in names}
    return sorted(int(name[:-4]) for name in found if len(name) == _NAME and name.endswith(".raw") and _is_number(name))


def open_file(path: str) -> int:
    """A descriptor to read it. What is no plain file counts as not there: a pipe would block, a folder has no bytes."""
    fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK)
    if not _is_plain(posix.fstat(fd)):
        posix.close(fd)
        raise FileNotFoundError(path)
    return fd


def size_of(path: str) -> int:
    """0 where there is no plain file."""
    try:
        found = posix.stat(path)
    except FileNotFoundError:
        return 0
    return found.st_size if _is_plain(found) else 0


def _is_plain(found: posix.stat_result) -> bool:
    return found.st_mode & _FILE_TYPE == _REGULAR


def _is_number(name: str) -> bool:
    return name.isascii() and name[:-4].isdigit()


class RawFile:
    """The bytes of a segment as they were written, also while it grows."""

    def __init__(self, path: str):
        self._fd = open_file(path)

    def size(self) -> int:
        return posix.fstat(self._fd).st_size

    def written_at(self) -> int:
        return posix.fstat(self._fd).st_mtime_ns

    def read(self, count: int, place: int) -> bytes:
        return posix.pread(self._fd, count, place)

    def close(self) -> None:
        posix.close(self._fd)


def open_bytes(folder: str, start: int) -> RawFile | PackedFile:
    """In this order: a segment that is packed while we look has its packed file before it loses the other."""
    try:
        return RawFile(raw_name(folder, start))
    except FileNotFoundError:
        from termvisor.recorder.compressed_segment import PackedFile  # never loaded by the recorder itself

        return PackedFile(packed_name(folder, start))


class Segment:
    """A segment opened for reading, also while it grows."""

    def __init__(self, folder: str, start: int):
        self.start = start
        self._index_name = index_name(folder, start)
        self._raw = open_bytes(folder, start)
        self._index = -1
        self._record = 0
        self._passed = start
        """All records before `_record` end at or before this offset."""

    def close(self) -> None:
        self._raw.close()
        if self._index >= 0:
            posix.close(self._index)
        self._index = -1

    def end(self) -> int:
        return self.start + self._raw.size()

    def pieces(self, offset: int, stop: int, within: int = TOGETHER) -> Iterator[tuple[int, bytes, int]]:
        """Consecutive bytes from ``offset`` to ``stop`` or to the end, with the time at which the last was read.

        A piece is what was read ``within`` so many nanoseconds; 0 gives what was read at once.
        """
        stop = min(stop, self.end())
        while offset < stop:
            until, at = self._together(offset, min(stop, offset + PIECE_BYTES), within)
            data = self._raw.read(until - offset, offset - self.start)
            if not data:
                return
            yield offset, data, at
            offset += len(data)

    def time_of(self, offset: int) -> int:
        for _, at in self._records(offset):
            return at
        return self._time_beyond_index()

    def closing(self) -> tuple[int, int] | None:
        """Flag and time of the record that closed the stream, if one did."""
        flag, at = self._last_record()
        return (flag, at) if flag else None

    def _together(self, offset: int, stop: int, within: int) -> tuple[int, int]:
        """How far the bytes from ``offset`` on were read at about the same time, and when."""
        until = at = offset
        latest = None
        for end, when in self._records(offset):
            latest = when + within if latest is None else latest
            if until > offset and (end > stop or when > latest):
                break
            until, at = min(end, stop), when
            if until == stop:
                break
        return (until, at) if until > offset else (stop, self._time_beyond_index())

    def _records(self, offset: int) -> Iterator[tuple[int, int]]:
        """Some (end, time) records from the first that reaches beyond ``offset``."""
        if offset < self._passed:
            self._seek(offset)
        batch = self._read_records(self._record, _BATCH)
        if len(batch) == _BATCH * 2 and batch[-2] & _OFFSET_MASK <= offset:
            self._seek(offset)
            batch = self._read_records(self._record, _BATCH)
        skipped = 0
        while skipped * 2 < len(batch) and batch[skipped * 2] & _OFFSET_MASK <= offset:
            skipped += 1
        self._record, self._passed = self._record + skipped, offset
        return ((batch[n] & _OFFSET_MASK, batch[n + 1] & _TIME_MASK) for n in range(skipped * 2, len(batch), 2))

    def _seek(self, offset: int) -> None:
        low, high = 0, self._count()
        while low < high:
            middle = (low + high) // 2
            record = self._read_records(middle, 1)
            if record and record[0] & _OFFSET_MASK <= offset:
                low = middle + 1
            else:
                high = middle
        self._record = low

    def _read_records(self, first: int, count: int) -> memoryview[int]:
        data = posix.pread(self._index, count * _RECORD, first * _RECORD) if self._has_index() else b""
        # Native order: the machines we run on are little-endian, as the file is.
        return memoryview(data)[: len(data) // _RECORD * _RECORD].cast("Q")

    def _count(self) -> int:
        return posix.fstat(self._index).st_size // _RECORD if self._has_index() else 0

    def _last_record(self) -> tuple[int, int]:
        count = self._count()
        record = self._read_records(count - 1, 1) if count else ()
        return (record[0] >> 56, record[1] & _TIME_MASK) if record else (READ, 0)

    def _time_beyond_index(self) -> int:
        return max(self._raw.written_at(), self._last_record()[1])

    def _has_index(self) -> bool:
        # A young segment may have its raw file a moment before its index.
        if self._index < 0:
            try:
                self._index = open_file(self._index_name)
            except OSError:
                return False
        return True
