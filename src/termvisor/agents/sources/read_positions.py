"""How far the files of one place are read, so that a later daemon goes on from there.

Bounded: of the files that were last read so many are known; of any other it is known whether it changed since.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable

import msgspec
from msgspec import Struct

from termvisor.agents.sources.file_scan import Print
from termvisor.agents.sources.tail import Tail
from termvisor.clock import NS
from termvisor.model.agent.read_position import Bookmark
from termvisor.model.ids import RuntimeId

_MOST = 64
_FOOT = 64
"""Bytes before a place by which it is known again."""


class _Place(Struct, frozen=True, array_like=True):
    """Where a line of a file begins, and what stands before it."""

    offset: int
    foot: bytes


class _Places(Struct, array_like=True):
    surveyed_at: int = 0
    """When all files of the place were last looked at."""
    files: dict[int, _Place] = {}
    """By inode; the one that was read last comes last."""


class Ribbon:
    """``body`` is that of the last bookmark, empty where the agent was not known before. ``keep`` stores one."""

    def __init__(self, runtime: RuntimeId, watch: str, body: bytes, keep: Callable[[Bookmark], bool]):
        self._runtime, self._watch, self._keep = runtime, watch, keep
        self._places = _read(body)
        self.is_resumed = self._places.surveyed_at > 0
        self._is_moved = False

    def begin(self, found: Print, *, from_start: bool) -> Tail:
        """Where an earlier daemon stopped. A file that came or changed since, and is not known, is read whole."""
        place = self._places.files.get(found.inode)
        if place is not None:
            return Tail(place.offset, lambda descriptor: _foot(descriptor, place.offset) == place.foot)
        is_new = found.changed_at > self._places.surveyed_at - NS
        return Tail(0 if from_start or is_new else found.size)

    def move(self, inode: int, tail: Tail, descriptor: int) -> None:
        known = self._places.files.get(inode)
        place = _Place(tail.place, _foot(descriptor, tail.place))
        if place == known:
            return
        files = self._places.files
        files.pop(inode, None)
        files[inode] = place
        if len(files) > _MOST:
            del files[next(iter(files))]
        self._is_moved = True

    def surveyed(self, at: int) -> None:
        self._is_moved = self._is_moved or not self._places.surveyed_at
        self._places.surveyed_at = at

    def taken(self) -> Bookmark | None:
        """Where we are now; None where that is stored."""
        if not self._is_moved:
            return None
        self._is_moved = False
        return Bookmark(runtime=self._runtime, watch=self._watch, body=msgspec.msgpack.encode(self._places))

    def keep(self) -> None:
        """Where nothing was read there is no record to store it with."""
        if (bookmark := self.taken()) is not None:
            self._is_moved = not self._keep(bookmark)


def _read(body: bytes) -> _Places:
    try:
        return msgspec.msgpack.decode(body, type=_Places) if body else _Places()
    except msgspec.DecodeError:  # of another version: as if we met the agent now
        return _Places()


def _foot(descriptor: int, offset: int) -> bytes:
    length = min(offset, _FOOT)
    return blake2b(os.pread(descriptor, length, offset - length), digest_size=8).digest()
