"""A raw segment that is complete is sealed: its secrets are masked, then it is packed.

The new file gets its name when it is whole and on the disk; only then does the old one go. Killed at any step, the
stream reads as before, and `tidy` takes away what was left behind. Offsets and times do not change. A file that was
masked is read-only (0400): that is how it is known later.
"""

import filecmp
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.recorder.segment import (
    COMPRESSED_SUFFIX,
    build_compressed_path,
    build_index_path,
    build_raw_path,
    open_segment_file,
)
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction.raw_bytes import EDGE_BYTES, RawByteMasker

_READ_BYTES = 1 << 17
_MASKED_MODE, _PLAIN_MODE = 0o400, 0o600
_TEMP_SUFFIX = ".tmp"


class SealOptions(Struct, frozen=True, kw_only=True):
    """What sealing shall do."""

    masks: bool = True
    packs: bool = True


class SealResult(Struct, frozen=True):
    """``freed`` bytes were given back to the disk, ``masked`` rows had secrets in them; or what went wrong."""

    freed: int = 0
    masked: int = 0
    error: str = ""


def seal_segment(folder: str, start: int, options: SealOptions) -> SealResult:
    """Seal one segment that nobody writes any more. An ``OSError`` leaves it as it was."""
    source = _find_segment_path(folder, start)
    before = os.stat(source)
    options = replace(options, packs=options.packs or source.endswith(COMPRESSED_SUFFIX))
    target = build_compressed_path(folder, start) if options.packs else source
    unfinished = f"{build_raw_path(folder, start)}{_TEMP_SUFFIX}"
    with suppress(FileNotFoundError):
        os.unlink(unfinished)
    try:
        masked = _rewrite_segment(folder, start, unfinished, options)
        if target == source and filecmp.cmp(source, unfinished, shallow=False):
            os.unlink(unfinished)
            os.chmod(source, _MASKED_MODE if options.masks else _PLAIN_MODE)
            return SealResult(0, 0)
        os.utime(unfinished, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.rename(unfinished, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise
    _fsync_path(build_index_path(folder, start))
    _fsync_path(folder)
    if target != source:
        os.unlink(source)
    return SealResult(before.st_size - os.stat(target).st_size, masked)


def remove_leftovers(folder: str) -> None:
    """Take away what a killed sealing or deletion left: unfinished files, bytes that are packed, times of nothing."""
    names = set(os.listdir(folder))
    for name in names:
        raw = f"{folder}/{name.partition('.')[0]}.raw"
        is_packed = name.endswith(".raw") and f"{name}{COMPRESSED_SUFFIX}" in names
        # Asked anew: a listing is no picture of one moment, and bytes are there before their times.
        is_alone = name.endswith(".idx") and not os.path.exists(raw) and not os.path.exists(raw + COMPRESSED_SUFFIX)
        if is_packed or is_alone or name.endswith(_TEMP_SUFFIX):
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")


def delete_segment(folder: str, start: int) -> int:
    """Delete a segment, its bytes before its times; how many bytes that gave back."""
    freed = 0
    for path in (build_raw_path(folder, start), build_compressed_path(folder, start), build_index_path(folder, start)):
        with suppress(FileNotFoundError):
            size = os.stat(path).st_size
            os.unlink(path)
            freed += size
    return freed


class _SegmentSink(Protocol):
    def write(self, data: bytes) -> None: ...

    def finish(self) -> None: ...


class _PlainSegmentSink:
    def __init__(self, descriptor: int):
        self._fd = descriptor

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def finish(self) -> None:
        return


def _rewrite_segment(folder: str, start: int, temp_path: str, options: SealOptions) -> int:
    """Write the segment anew and wait until it is on the disk; how many rows were masked."""
    descriptor = os.open(temp_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PLAIN_MODE)
    try:
        target = _open_sink(descriptor, compresses=options.packs)
        masking = _SegmentMasker(folder, start) if options.masks else None
        for data in masking.read_masked_bytes() if masking else _read_chunks(folder, start):
            target.write(data)
        target.finish()
        os.fchmod(descriptor, _MASKED_MODE if masking else _PLAIN_MODE)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return masking.masked_row_count if masking else 0


def _open_sink(descriptor: int, *, compresses: bool) -> _SegmentSink:
    if not compresses:
        return _PlainSegmentSink(descriptor)
    from termvisor.recorder.compressed_segment import (
        CompressedSegmentWriter,
    )  # zstd loads with the first segment that is packed

    return CompressedSegmentWriter(descriptor)


def _read_chunks(folder: str, start: int) -> Iterator[bytes]:
    with closing(open_segment_file(folder, start)) as file:
        place = 0
        while data := file.read(_READ_BYTES, place):
            yield data
            place += len(data)


class _SegmentMasker:
    """The segment's own bytes, judged together with the edges of its neighbours."""

    def __init__(self, folder: str, start: int):
        self._folder, self._start = folder, start
        with closing(open_segment_file(folder, start)) as file:
            self._size = file.read_size()
        self._edge_before, self._edge_after = (
            _read_edge_before(folder, start),
            _read_edge_after(folder, start + self._size),
        )
        self._mask = RawByteMasker()

    def read_masked_bytes(self) -> Iterator[bytes]:
        return _slice_stream(self._mask_with_edges(), len(self._edge_before), self._size)

    @property
    def masked_row_count(self) -> int:
        """How many rows of this segment had a secret in them."""
        begin = len(self._edge_before)
        return sum(begin <= place < begin + self._size for place in self._mask.secret_offsets)

    def _mask_with_edges(self) -> Iterator[bytes]:
        yield self._mask.feed(self._edge_before)
        for data in _read_chunks(self._folder, self._start):
            yield self._mask.feed(data)
        yield self._mask.feed(self._edge_after)
        yield self._mask.finish()


def _slice_stream(stream: Iterable[bytes], skipped: int, count: int) -> Iterator[bytes]:
    """``count`` bytes behind the first ``skipped`` ones."""
    for data in stream:
        own = data[skipped : skipped + count]
        skipped = max(0, skipped - len(data))
        count -= len(own)
        yield own


def _read_edge_before(folder: str, start: int) -> bytes:
    """The last bytes in front of this offset, as far as they follow each other up to it."""
    found, at = b"", max(0, start - EDGE_BYTES)
    with closing(SegmentReader(folder)) as reader:
        while at < start and (pieces := list(reader.read_pieces(at, start - at))):
            found = found if pieces[0][0] == at else b""
            found += b"".join(data for _, data, _ in pieces)
            at = pieces[-1][0] + len(pieces[-1][1])
    return found[-EDGE_BYTES:] if at == start else b""


def _read_edge_after(folder: str, end: int) -> bytes:
    with closing(SegmentReader(folder)) as reader:
        pieces = list(reader.read_pieces(end, EDGE_BYTES))
    return b"".join(data for _, data, _ in pieces) if pieces and pieces[0][0] == end else b""


def _find_segment_path(folder: str, start: int) -> str:
    raw = build_raw_path(folder, start)
    return raw if os.path.exists(raw) else build_compressed_path(folder, start)


def _fsync_path(path: str) -> None:
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
