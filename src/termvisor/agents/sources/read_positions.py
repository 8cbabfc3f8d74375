"""Store how far the files of a watch have been read, so that the next daemon resumes there.

The offsets of the last 64 files are stored. For any other file, only a change since the last scan can be detected.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable

import msgspec
from msgspec import Struct

from termvisor.agents.sources.source_reader import FileFingerprint
from termvisor.agents.sources.tail import FileTail
from termvisor.clock import NS
from termvisor.model.agent.signal import ReadPosition
from termvisor.model.ids import RuntimeId

_MAX_FILES = 64
# Bytes before an offset whose checksum proves that the file is still the same.
_CHECKSUM_BYTES = 64


class _FilePosition(Struct, frozen=True, array_like=True):
    """The offset of the next line, and the checksum of the bytes before it."""

    offset: int
    checksum: bytes


class _FilePositions(Struct, array_like=True):
    full_scan_at: int = 0
    """When all files of the watch were last scanned."""
    files: dict[int, _FilePosition] = {}
    """By inode; the file that was read last comes last."""


class ReadPositions:
    """``body`` is the last stored position, empty for a new agent; ``store_position`` stores one."""

    def __init__(
        self, agent_process_id: RuntimeId, watch: str, body: bytes, store_position: Callable[[ReadPosition], bool]
    ):
        self._agent_process_id, self._watch, self._store_position = agent_process_id, watch, store_position
        self._positions = _decode_positions(body)
        self.is_resumed = self._positions.full_scan_at > 0
        self._has_unsaved_changes = False

    def open_tail(self, fingerprint: FileFingerprint, *, from_start: bool) -> FileTail:
        """Open a file at its stored offset. An unknown file that is new or changed since is read from its start."""
        position = self._positions.files.get(fingerprint.inode)
        if position is not None:
            return FileTail(
                position.offset, lambda descriptor: _compute_checksum(descriptor, position.offset) == position.checksum
            )
        # One second earlier, because a file that changed just before the scan may change again with the same mtime.
        is_new = fingerprint.changed_at > self._positions.full_scan_at - NS
        return FileTail(0 if from_start or is_new else fingerprint.size)

    def update_position(self, inode: int, tail: FileTail, descriptor: int) -> None:
        files = self._positions.files
        position = _FilePosition(tail.line_start_offset, _compute_checksum(descriptor, tail.line_start_offset))
        if position == files.get(inode):
            return
        files.pop(inode, None)
        files[inode] = position
        if len(files) > _MAX_FILES:
            del files[next(iter(files))]
        self._has_unsaved_changes = True

    def record_full_scan(self, at: int) -> None:
        self._has_unsaved_changes = self._has_unsaved_changes or not self._positions.full_scan_at
        self._positions.full_scan_at = at

    def take_snapshot(self) -> ReadPosition | None:
        """Return the current position to store; None if it is already stored."""
        if not self._has_unsaved_changes:
            return None
        self._has_unsaved_changes = False
        return ReadPosition(
            runtime=self._agent_process_id, watch=self._watch, body=msgspec.msgpack.encode(self._positions)
        )

    def save(self) -> None:
        """Store the position by itself if no record carried it."""
        if (position := self.take_snapshot()) is not None:
            self._has_unsaved_changes = not self._store_position(position)


def _decode_positions(body: bytes) -> _FilePositions:
    try:
        return msgspec.msgpack.decode(body, type=_FilePositions) if body else _FilePositions()
    except msgspec.DecodeError:  # written by another version: treat the agent as new
        return _FilePositions()


def _compute_checksum(descriptor: int, offset: int) -> bytes:
    length = min(offset, _CHECKSUM_BYTES)
    return blake2b(os.pread(descriptor, length, offset - length), digest_size=8).digest()
