"""How far the files of one place are read, so that a later daemon goes on from there.

Bounded: of the files that were last read so many are known; of any other it is known whether it changed since.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable

import msgspec
from msgspec import Struct

from termvisor.agents.sources.file_scan import FileFingerprint
from termvisor.agents.sources.tail import FileTail
from termvisor.clock import NS
from termvisor.model.agent.read_position import ReadPosition
from termvisor.model.ids import RuntimeId

_MAX_FILES = 64
_CHECKSUM_BYTES = 64
"""Bytes before a place by which it is known again."""


class _FilePosition(Struct, frozen=True, array_like=True):
    """Where a line of a file begins, and what stands before it."""

    offset: int
    checksum: bytes


class _FilePositions(Struct, array_like=True):
    full_scan_at: int = 0
    """When all files of the place were last looked at."""
    files: dict[int, _FilePosition] = {}
    """By inode; the one that was read last comes last."""


class ReadPositions:
    """``body`` is that of the last bookmark, empty where the agent was not known before. ``keep`` stores one."""

    def __init__(
        self, agent_process_id: RuntimeId, watch: str, body: bytes, store_position: Callable[[ReadPosition], bool]
    ):
        self._agent_process_id, self._watch, self._store_position = agent_process_id, watch, store_position
        self._positions = _decode_positions(body)
        self.is_resumed = self._positions.full_scan_at > 0
        self._has_unsaved_changes = False

    def open_tail(self, fingerprint: FileFingerprint, *, from_start: bool) -> FileTail:
        """Where an earlier daemon stopped. A file that came or changed since, and is not known, is read whole."""
        place = self._positions.files.get(fingerprint.inode)
        if place is not None:
            return FileTail(
                place.offset, lambda descriptor: _compute_checksum(descriptor, place.offset) == place.checksum
            )
        is_new = fingerprint.changed_at > self._positions.full_scan_at - NS
        return FileTail(0 if from_start or is_new else fingerprint.size)

    def update_position(self, inode: int, tail: FileTail, descriptor: int) -> None:
        known = self._positions.files.get(inode)
        place = _FilePosition(tail.line_start_offset, _compute_checksum(descriptor, tail.line_start_offset))
        if place == known:
            return
        files = self._positions.files
        files.pop(inode, None)
        files[inode] = place
        if len(files) > _MAX_FILES:
            del files[next(iter(files))]
        self._has_unsaved_changes = True

    def record_full_scan(self, at: int) -> None:
        self._has_unsaved_changes = self._has_unsaved_changes or not self._positions.full_scan_at
        self._positions.full_scan_at = at

    def take_snapshot(self) -> ReadPosition | None:
        """Where we are now; None where that is stored."""
        if not self._has_unsaved_changes:
            return None
        self._has_unsaved_changes = False
        return ReadPosition(
            runtime=self._agent_process_id, watch=self._watch, body=msgspec.msgpack.encode(self._positions)
        )

    def save(self) -> None:
        """Where nothing was read there is no record to store it with."""
        if (bookmark := self.take_snapshot()) is not None:
            self._has_unsaved_changes = not self._store_position(bookmark)


def _decode_positions(body: bytes) -> _FilePositions:
    try:
        return msgspec.msgpack.decode(body, type=_FilePositions) if body else _FilePositions()
    except msgspec.DecodeError:  # of another version: as if we met the agent now
        return _FilePositions()


def _compute_checksum(descriptor: int, offset: int) -> bytes:
    length = min(offset, _CHECKSUM_BYTES)
    return blake2b(os.pread(descriptor, length, offset - length), digest_size=8).digest()
