"""A complete segment, compressed: independent frames of 256 KB and a table of them, so that any slice is read by
unpacking the frames it touches. The layout is zstd's seekable format: `zstd -d` gives the raw bytes.

Every frame carries a checksum: bytes that were damaged on disk are an error, never wrong bytes.
"""

import errno
import os
import struct
from bisect import bisect_right

from termvisor.recorder.segment import open_file

FRAME_BYTES = 1 << 18
LEVEL = 3
_SKIPPABLE = struct.Struct("<II")
_ENTRY = struct.Struct("<II")
_FOOTER = struct.Struct("<IBI")
_SKIPPABLE_MAGIC, _SEEKABLE_MAGIC = 0x184D2A5E, 0x8F92EAB1


class PackedFile:
    """A packed segment opened for reading. Keeps the one frame that it last unpacked."""

    def __init__(self, path: str):
        self._path = path
        self._fd = open_file(path)
        try:
            self._places, self._ends = self._table()
        except (struct.error, ValueError) as error:
            os.close(self._fd)
            raise self._damaged() from error
        self._number, self._frame = -1, b""

    def size(self) -> int:
        return self._ends[-1] if self._ends else 0

    def written_at(self) -> int:
        return os.fstat(self._fd).st_mtime_ns

    def read(self, count: int, place: int) -> bytes:
        found = bytearray()
        while len(found) < count and place < self.size():
            number = bisect_right(self._ends, place)
            frame = self._unpacked(number)
            begin = len(frame) - (self._ends[number] - place)
            piece = frame[begin : begin + count - len(found)]
            found += piece
            place += len(piece)
        return bytes(found)

    def close(self) -> None:
        os.close(self._fd)

    def _unpacked(self, number: int) -> bytes:
        if number != self._number:
            import zstandard  # two megabytes, for those only who look into packed segments

            begin, end = self._places[number], self._places[number + 1]
            try:
                frame = zstandard.ZstdDecompressor().decompress(os.pread(self._fd, end - begin, begin))
            except zstandard.ZstdError as error:
                raise self._damaged() from error
            self._number, self._frame = number, frame
        return self._frame

    def _table(self) -> tuple[list[int], list[int]]:
        """Where each frame lies in the file, and the end of its bytes in the segment."""
        size = os.fstat(self._fd).st_size
        count, _, magic = _FOOTER.unpack(os.pread(self._fd, _FOOTER.size, max(0, size - _FOOTER.size)))
        if magic != _SEEKABLE_MAGIC:
            raise ValueError("not packed by us, or cut")
        table = os.pread(self._fd, count * _ENTRY.size, size - _FOOTER.size - count * _ENTRY.size)
        places, ends = [0], [0]
        for packed, unpacked in _ENTRY.iter_unpack(table):
            places.append(places[-1] + packed)
            ends.append(ends[-1] + unpacked)
        if len(ends) != count + 1:
            raise ValueError("its table is cut")
        return places, ends[1:]

    def _damaged(self) -> OSError:
        return OSError(errno.EIO, "this packed segment is damaged", self._path)


class PackedWriter:
    """Writes a packed segment to a descriptor; complete only after `finish`."""

    def __init__(self, descriptor: int):
        import zstandard

        self._fd = descriptor
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._held = bytearray()
        self._table: list[tuple[int, int]] = []

    def write(self, data: bytes) -> None:
        self._held += data
        while len(self._held) >= FRAME_BYTES:
            self._pack(FRAME_BYTES)

    def finish(self) -> None:
        if self._held:
            self._pack(len(self._held))
        entries = b"".join(_ENTRY.pack(*entry) for entry in self._table)
        footer = _FOOTER.pack(len(self._table), 0, _SEEKABLE_MAGIC)
        _write(self._fd, _SKIPPABLE.pack(_SKIPPABLE_MAGIC, len(entries) + len(footer)) + entries + footer)

    def _pack(self, count: int) -> None:
        frame = self._compressor.compress(bytes(self._held[:count]))
        del self._held[:count]
        _write(self._fd, frame)
        self._table.append((len(frame), count))


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
