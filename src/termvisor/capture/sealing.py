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

from termvisor.recorder.segment import PACKED, index_name, open_bytes, packed_name, raw_name
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction.raw_bytes import EDGE, RawMask

_READ = 1 << 17
_MASKED_MODE, _PLAIN_MODE = 0o400, 0o600
_UNFINISHED = ".tmp"


class Wish(Struct, frozen=True, kw_only=True):
    """What sealing shall do."""

    masks: bool = True
    packs: bool = True


class Sealed(Struct, frozen=True):
    """``freed`` bytes were given back to the disk, ``masked`` rows had secrets in them; or what went wrong."""

    freed: int = 0
    masked: int = 0
    trouble: str = ""


def seal(folder: str, start: int, wish: Wish) -> Sealed:
    """Seal one segment that nobody writes any more. An ``OSError`` leaves it as it was."""
    source = _present(folder, start)
    before = os.stat(source)
    wish = replace(wish, packs=wish.packs or source.endswith(PACKED))
    target = packed_name(folder, start) if wish.packs else source
    unfinished = f"{raw_name(folder, start)}{_UNFINISHED}"
    with suppress(FileNotFoundError):
        os.unlink(unfinished)
    try:
        masked = _rewrite(folder, start, unfinished, wish)
        if target == source and filecmp.cmp(source, unfinished, shallow=False):
            os.unlink(unfinished)
            os.chmod(source, _MASKED_MODE if wish.masks else _PLAIN_MODE)
            return Sealed(0, 0)
        os.utime(unfinished, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.rename(unfinished, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise
    _flush(index_name(folder, start))
    _flush(folder)
    if target != source:
        os.unlink(source)
    return Sealed(before.st_size - os.stat(target).st_size, masked)


def tidy(folder: str) -> None:
    """Take away what a killed sealing or deletion left: unfinished files, bytes that are packed, times of nothing."""
    names = set(os.listdir(folder))
    for name in names:
        raw = f"{folder}/{name.partition('.')[0]}.raw"
        is_packed = name.endswith(".raw") and f"{name}{PACKED}" in names
        # Asked anew: a listing is no picture of one moment, and bytes are there before their times.
        is_alone = name.endswith(".idx") and not os.path.exists(raw) and not os.path.exists(raw + PACKED)
        if is_packed or is_alone or name.endswith(_UNFINISHED):
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")


def remove(folder: str, start: int) -> int:
    """Delete a segment, its bytes before its times; how many bytes that gave back."""
    freed = 0
    for path in (raw_name(folder, start), packed_name(folder, start), index_name(folder, start)):
        with suppress(FileNotFoundError):
            size = os.stat(path).st_size
            os.unlink(path)
            freed += size
    return freed


class _Target(Protocol):
    def write(self, data: bytes) -> None: ...

    def finish(self) -> None: ...


class _Plain:
    def __init__(self, descriptor: int):
        self._fd = descriptor

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def finish(self) -> None:
        return


def _rewrite(folder: str, start: int, unfinished: str, wish: Wish) -> int:
    """Write the segment anew and wait until it is on the disk; how many rows were masked."""
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PLAIN_MODE)
    try:
        target = _target(descriptor, packs=wish.packs)
        masking = _Masking(folder, start) if wish.masks else None
        for data in masking.own() if masking else _bytes(folder, start):
            target.write(data)
        target.finish()
        os.fchmod(descriptor, _MASKED_MODE if masking else _PLAIN_MODE)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return masking.rows if masking else 0


def _target(descriptor: int, *, packs: bool) -> _Target:
    if not packs:
        return _Plain(descriptor)
    from termvisor.recorder.compressed_segment import PackedWriter  # zstd loads with the first segment that is packed

    return PackedWriter(descriptor)


def _bytes(folder: str, start: int) -> Iterator[bytes]:
    with closing(open_bytes(folder, start)) as file:
        place = 0
        while data := file.read(_READ, place):
            yield data
            place += len(data)


class _Masking:
    """The segment's own bytes, judged together with the edges of its neighbours."""

    def __init__(self, folder: str, start: int):
        self._folder, self._start = folder, start
        with closing(open_bytes(folder, start)) as file:
            self._size = file.size()
        self._before, self._after = _before(folder, start), _after(folder, start + self._size)
        self._mask = RawMask()

    def own(self) -> Iterator[bytes]:
        return _window(self._all(), len(self._before), self._size)

    @property
    def rows(self) -> int:
        """How many rows of this segment had a secret in them."""
        begin = len(self._before)
        return sum(begin <= place < begin + self._size for place in self._mask.found)

    def _all(self) -> Iterator[bytes]:
        yield self._mask.feed(self._before)
        for data in _bytes(self._folder, self._start):
            yield self._mask.feed(data)
        yield self._mask.feed(self._after)
        yield self._mask.finish()


def _window(stream: Iterable[bytes], skipped: int, count: int) -> Iterator[bytes]:
    """``count`` bytes behind the first ``skipped`` ones."""
    for data in stream:
        own = data[skipped : skipped + count]
        skipped = max(0, skipped - len(data))
        count -= len(own)
        yield own


def _before(folder: str, start: int) -> bytes:
    """The last bytes in front of this offset, as far as they follow each other up to it."""
    found, at = b"", max(0, start - EDGE)
    with closing(SegmentReader(folder)) as reader:
        while at < start and (pieces := list(reader.pieces(at, start - at))):
            found = found if pieces[0][0] == at else b""
            found += b"".join(data for _, data, _ in pieces)
            at = pieces[-1][0] + len(pieces[-1][1])
    return found[-EDGE:] if at == start else b""


def _after(folder: str, end: int) -> bytes:
    with closing(SegmentReader(folder)) as reader:
        pieces = list(reader.pieces(end, EDGE))
    return b"".join(data for _, data, _ in pieces) if pieces and pieces[0][0] == end else b""


def _present(folder: str, start: int) -> str:
    raw = raw_name(folder, start)
    return raw if os.path.exists(raw) else packed_name(folder, start)


def _flush(path: str) -> None:
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
