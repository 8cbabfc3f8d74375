"""Seal complete raw segments: mask their secrets, then compress them.

A new file is renamed into place once it is complete and synced to disk; only then is the old one deleted. If stopped at
any step, the stream reads as before, and remove_leftovers cleans up. Offsets and times do not change. A masked
file is read-only (0400), by which it is recognised later.
"""

import filecmp
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress

from msgspec import Struct
from msgspec.structs import replace

from termvisor.recorder.compressed_segment import CompressedSegmentWriter, write_all
from termvisor.recorder.segment import (
    COMPRESSED_SUFFIX,
    build_compressed_path,
    build_index_path,
    build_raw_path,
    open_segment_file,
)
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import build_rules, use_rules
from termvisor.redaction.raw_bytes import EDGE_BYTES, RawByteMasker
from termvisor.settings import Paths, Settings
from termvisor.system.shell_nonce import load_nonce

_READ_BYTES = 1 << 17
_MASKED_MODE, _PLAIN_MODE = 0o400, 0o600
_TEMP_SUFFIX = ".tmp"
_NICE_INCREMENT = 10


class SealOptions(Struct, frozen=True, kw_only=True):
    """Whether to mask secrets and to compress."""

    masks: bool = True
    packs: bool = True


class SealResult(Struct, frozen=True):
    """Bytes ``freed`` on disk and rows ``masked`` because of secrets, or the ``error`` text."""

    freed: int = 0
    masked: int = 0
    error: str = ""


def seal_segments(paths: Paths, settings: Settings, segments: list[tuple[str, int]]) -> Iterator[SealResult]:
    """Seal segments, each given by folder and start offset. Runs in a worker process, which may be killed at any time.

    ``paths`` and ``settings`` are the daemon's, which may differ from the environment and the settings file.
    """
    os.nice(10)  # lower priority: panes and agents come first
    nonce = load_nonce(paths.nonce_file)
    use_rules(build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir, nonce=nonce))
    options = SealOptions(masks=settings.mask_raw, packs=settings.compress)
    for folder, start in segments:
        yield try_seal_segment(folder, start, options)


def try_seal_segment(folder: str, start: int, options: SealOptions) -> SealResult:
    """Seal one segment and return the result, with the error text if a file operation fails."""
    try:
        return seal_segment(folder, start, options)
    except FileNotFoundError:
        # Retention deleted the segment meanwhile.
        return SealResult()
    except OSError as error:
        return SealResult(error=f"{error.strerror}: {error.filename or folder}")


def seal_segment(folder: str, start: int, options: SealOptions) -> SealResult:
    """Seal one complete segment. If it cannot be rewritten, raise OSError and leave it unchanged."""
    source = _find_segment_path(folder, start)
    before = os.stat(source)
    options = replace(options, packs=options.packs or source.endswith(COMPRESSED_SUFFIX))
    target = build_compressed_path(folder, start) if options.packs else source
    temp_path = f"{build_raw_path(folder, start)}{_TEMP_SUFFIX}"
    # An earlier worker may have been killed here.
    with suppress(FileNotFoundError):
        os.unlink(temp_path)
    try:
        masked = _rewrite_segment(folder, start, temp_path, options)
        if target == source and filecmp.cmp(source, temp_path, shallow=False):
            os.unlink(temp_path)
            os.chmod(source, _MASKED_MODE if options.masks else _PLAIN_MODE)
            return SealResult(0, 0)
        os.utime(temp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.rename(temp_path, target)
    except BaseException:
        # Leave no temporary file, even if the worker is interrupted.
        with suppress(FileNotFoundError):
            os.unlink(temp_path)
        raise
    # Sync before deleting the old file: after a power failure either the old or the new one must exist.
    _fsync_path(build_index_path(folder, start))
    _fsync_path(folder)
    if target != source:
        os.unlink(source)
    return SealResult(before.st_size - os.stat(target).st_size, masked)


def remove_leftovers(folder: str) -> None:
    """Delete what an interrupted seal or deletion left: temporary files, compressed raw files, orphaned indexes."""
    names = set(os.listdir(folder))
    for name in names:
        raw = f"{folder}/{name.partition('.')[0]}.raw"
        has_compressed_copy = name.endswith(".raw") and f"{name}{COMPRESSED_SUFFIX}" in names
        # Check again on disk, because the listing is not atomic and a segment is created before its index.
        is_lone_index = (
            name.endswith(".idx") and not os.path.exists(raw) and not os.path.exists(raw + COMPRESSED_SUFFIX)
        )
        if has_compressed_copy or is_lone_index or name.endswith(_TEMP_SUFFIX):
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")


def delete_segment(folder: str, start: int) -> int:
    """Delete a segment, its data before its index, and return the number of bytes freed."""
    freed = 0
    for path in (build_raw_path(folder, start), build_compressed_path(folder, start), build_index_path(folder, start)):
        with suppress(FileNotFoundError):
            size = os.stat(path).st_size
            os.unlink(path)
            freed += size
    return freed


def _rewrite_segment(folder: str, start: int, temp_path: str, options: SealOptions) -> int:
    """Write the sealed segment to ``temp_path``, sync it and return the number of masked rows."""
    descriptor = os.open(temp_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PLAIN_MODE)
    try:
        compressor = CompressedSegmentWriter(descriptor) if options.packs else None
        masker = _SegmentMasker(folder, start) if options.masks else None
        for data in masker.read_masked_bytes() if masker else _read_chunks(folder, start):
            if compressor:
                compressor.write(data)
            else:
                write_all(descriptor, data)
        if compressor:
            compressor.finish()
        os.fchmod(descriptor, _MASKED_MODE if masker else _PLAIN_MODE)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return masker.masked_row_count if masker else 0


def _read_chunks(folder: str, start: int) -> Iterator[bytes]:
    with closing(open_segment_file(folder, start)) as file:
        offset = 0
        while data := file.read(_READ_BYTES, offset):
            yield data
            offset += len(data)


class _SegmentMasker:
    """Masker for the secrets of a segment, including those that extend into its neighbours."""

    def __init__(self, folder: str, start: int):
        self._folder, self._start = folder, start
        with closing(open_segment_file(folder, start)) as file:
            self._size = file.read_size()
        self._edge_before = _read_edge_before(folder, start)
        self._edge_after = _read_edge_after(folder, start + self._size)
        self._masker = RawByteMasker()

    def read_masked_bytes(self) -> Iterator[bytes]:
        return _slice_stream(self._mask_with_edges(), len(self._edge_before), self._size)

    @property
    def masked_row_count(self) -> int:
        """Count the rows of this segment that contained a secret."""
        begin = len(self._edge_before)
        return sum(begin <= offset < begin + self._size for offset in self._masker.secret_offsets)

    def _mask_with_edges(self) -> Iterator[bytes]:
        yield self._masker.feed(self._edge_before)
        for data in _read_chunks(self._folder, self._start):
            yield self._masker.feed(data)
        yield self._masker.feed(self._edge_after)
        yield self._masker.finish()


def _slice_stream(stream: Iterable[bytes], skipped: int, count: int) -> Iterator[bytes]:
    """Yield ``count`` bytes after the first ``skipped`` ones."""
    for data in stream:
        part = data[skipped : skipped + count]
        skipped = max(0, skipped - len(data))
        count -= len(part)
        yield part


def _read_edge_before(folder: str, start: int) -> bytes:
    """Return the last bytes before ``start``, without any that precede a hole."""
    edge, offset = b"", max(0, start - EDGE_BYTES)
    with closing(SegmentReader(folder)) as reader:
        while offset < start and (pieces := list(reader.read_pieces(offset, start - offset))):
            edge = edge if pieces[0][0] == offset else b""
            edge += b"".join(data for _, data, _ in pieces)
            offset = pieces[-1][0] + len(pieces[-1][1])
    return edge[-EDGE_BYTES:] if offset == start else b""


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
