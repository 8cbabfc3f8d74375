"""Read and write compressed segments: independent zstd frames of 256 KB, followed by a frame table.

Reading a slice decompresses only the frames it touches. The layout is zstd's seekable format: `zstd -d` gives the raw
bytes. Every frame has a checksum: data damaged on disk raises OSError and is never returned.
"""

import errno
import os
import struct
from bisect import bisect_right

from termvisor.recorder.segment import open_regular_file

FRAME_BYTES = 1 << 18
COMPRESSION_LEVEL = 3
_SKIPPABLE_HEADER = struct.Struct("<II")
_TABLE_ENTRY = struct.Struct("<II")
_TABLE_FOOTER = struct.Struct("<IBI")
_SKIPPABLE_MAGIC, _SEEKABLE_MAGIC = 0x184D2A5E, 0x8F92EAB1


class CompressedSegmentFile:
    """A compressed segment opened for reading. It caches the last decompressed frame."""

    def __init__(self, path: str):
        self._path = path
        self._fd = open_regular_file(path)
        try:
            self._frame_offsets, self._frame_ends = self._read_frame_table()
        except (struct.error, ValueError) as error:
            # Truncated or not our format. Callers handle it like any other unreadable file.
            os.close(self._fd)
            raise self._build_damage_error() from error
        self._cached_frame_number, self._cached_frame = -1, b""

    def read_size(self) -> int:
        return self._frame_ends[-1] if self._frame_ends else 0

    def read_mtime(self) -> int:
        return os.fstat(self._fd).st_mtime_ns

    def read(self, count: int, offset: int) -> bytes:
        result = bytearray()
        while len(result) < count and offset < self.read_size():
            number = bisect_right(self._frame_ends, offset)
            frame = self._decompress_frame(number)
            begin = len(frame) - (self._frame_ends[number] - offset)
            piece = frame[begin : begin + count - len(result)]
            result += piece
            offset += len(piece)
        return bytes(result)

    def close(self) -> None:
        os.close(self._fd)

    def _decompress_frame(self, number: int) -> bytes:
        if number != self._cached_frame_number:
            # Takes two megabytes, so it is loaded only to read compressed segments.
            import zstandard

            begin, end = self._frame_offsets[number], self._frame_offsets[number + 1]
            try:
                frame = zstandard.ZstdDecompressor().decompress(os.pread(self._fd, end - begin, begin))
            except zstandard.ZstdError as error:
                raise self._build_damage_error() from error
            self._cached_frame_number, self._cached_frame = number, frame
        return self._cached_frame

    def _read_frame_table(self) -> tuple[list[int], list[int]]:
        """Return each frame's offset in the file, and the offset at which its bytes end in the segment."""
        size = os.fstat(self._fd).st_size
        count, _, magic = _TABLE_FOOTER.unpack(
            os.pread(self._fd, _TABLE_FOOTER.size, max(0, size - _TABLE_FOOTER.size))
        )
        if magic != _SEEKABLE_MAGIC:
            raise ValueError("not in the seekable format, or truncated")
        table = os.pread(self._fd, count * _TABLE_ENTRY.size, size - _TABLE_FOOTER.size - count * _TABLE_ENTRY.size)
        offsets, ends = [0], [0]
        for compressed_size, size_in_frame in _TABLE_ENTRY.iter_unpack(table):
            offsets.append(offsets[-1] + compressed_size)
            ends.append(ends[-1] + size_in_frame)
        if len(ends) != count + 1:
            raise ValueError("the frame table is truncated")
        return offsets, ends[1:]

    def _build_damage_error(self) -> OSError:
        return OSError(errno.EIO, "the compressed segment is damaged", self._path)


class CompressedSegmentWriter:
    """Writer of a compressed segment to a descriptor. The file is complete only after finish()."""

    def __init__(self, descriptor: int):
        import zstandard

        self._fd = descriptor
        self._compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True)
        self._buffer = bytearray()
        self._frame_sizes: list[tuple[int, int]] = []

    def write(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= FRAME_BYTES:
            self._write_frame(FRAME_BYTES)

    def finish(self) -> None:
        if self._buffer:
            self._write_frame(len(self._buffer))
        entries = b"".join(_TABLE_ENTRY.pack(*entry) for entry in self._frame_sizes)
        footer = _TABLE_FOOTER.pack(len(self._frame_sizes), 0, _SEEKABLE_MAGIC)
        write_all(self._fd, _SKIPPABLE_HEADER.pack(_SKIPPABLE_MAGIC, len(entries) + len(footer)) + entries + footer)

    def _write_frame(self, count: int) -> None:
        frame = self._compressor.compress(bytes(self._buffer[:count]))
        del self._buffer[:count]
        write_all(self._fd, frame)
        self._frame_sizes.append((len(frame), count))


def write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
