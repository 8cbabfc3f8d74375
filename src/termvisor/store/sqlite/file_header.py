"""Read the header of a database file as plain bytes.

SQLite creates files next to a write-ahead database even when it only reads; a file of another program is therefore
never opened with it. Layout: https://sqlite.org/fileformat2.html sections 1.3 and 4.
"""

import os
import struct
from typing import BinaryIO

from msgspec import Struct

APPLICATION_ID = 0x56495352
"""``VISR``: the application id in the header of every Termvisor database."""

_MAGIC = b"SQLite format 3\0"
_HEADER = struct.Struct(">60xI4xI28x")
_WAL_HEADER = struct.Struct(">8xI4x8s8x")
_WAL_FRAME = struct.Struct(">II8s8x")


class DatabaseHeader(Struct, frozen=True):
    is_database: bool
    version: int = 0
    application_id: int = 0

    @property
    def is_termvisor(self) -> bool:
        return self.is_database and self.application_id == APPLICATION_ID


def read_database_header(path: str) -> DatabaseHeader | None:
    """Return the header as the next reader will see it, or None if the file is missing or empty."""
    try:
        with open(path, "rb") as file:
            page = file.read(_HEADER.size)
    except FileNotFoundError:
        return None
    if not page:
        return None
    if len(page) < _HEADER.size or not page.startswith(_MAGIC):
        return DatabaseHeader(False)
    return DatabaseHeader(True, *_HEADER.unpack(_read_first_page_from_wal(path) or page))


def _read_first_page_from_wal(path: str) -> bytes | None:
    """Return the newest committed first page in the write-ahead log, if there is one."""
    try:
        with open(path + "-wal", "rb") as file:
            return _find_newest_first_page(file)
    except FileNotFoundError:
        return None


def _find_newest_first_page(wal: BinaryIO) -> bytes | None:
    head = wal.read(_WAL_HEADER.size)
    if len(head) < _WAL_HEADER.size:
        return None
    page_size, salt = _WAL_HEADER.unpack(head)
    uncommitted: bytes | None = None
    newest: bytes | None = None
    while len(frame := wal.read(_WAL_FRAME.size)) == _WAL_FRAME.size:
        number, commit, frame_salt = _WAL_FRAME.unpack(frame)
        if frame_salt != salt:  # a frame left over from before the log was restarted
            break
        if number == 1:
            uncommitted = wal.read(_HEADER.size)
            wal.seek(page_size - len(uncommitted), os.SEEK_CUR)
        else:
            wal.seek(page_size, os.SEEK_CUR)
        if commit and uncommitted is not None and len(uncommitted) == _HEADER.size:
            newest = uncommitted
    return newest
