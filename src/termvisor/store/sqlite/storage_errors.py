"""Report what is wrong with the database: translate errors of SQLite and the OS, and notice damaged files.

SQLite does not notice that another program deleted, replaced or cut the files of the open database: it keeps writing to
a deleted file, whose content is lost when the last process closes it, and a new process ignores a write-ahead log whose
header is damaged. As long as our connections are open, everything they wrote can still be read through them, so a
deleted file and a damaged log are repaired by writing a new file (`Database`).
"""

import contextlib
import os
import struct
from collections.abc import Iterator

import apsw

from termvisor.errors import BadRequest, InternalError, StorageError, VisorError

_MESSAGES_BY_ERROR: tuple[tuple[tuple[type[apsw.Error], ...], str, str], ...] = (
    (
        (apsw.NotADBError, apsw.CorruptError, apsw.FormatError),
        "the database {path} is damaged or not a database",
        "The file was not changed. Restore a backup, or move the file away to start with a new one.",
    ),
    (
        (apsw.FullError,),
        "the disk is full: {path} cannot grow",
        "Free some space; the output of panes stays in the raw log as long as that can be written.",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        "the database {path} cannot be written: it is read-only",
        "Check the permissions of the file and its folder, and that the file system is not mounted read-only.",
    ),
    (
        (apsw.CantOpenError,),
        "the database {path} cannot be opened",
        "Check that its folder exists and that you own it.",
    ),
    (
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        "the database {path} is locked by another program",
        "Wait until that program is done, or stop it.",
    ),
    ((apsw.IOError,), "reading or writing {path} failed", "Check the disk and its free space."),
)


@contextlib.contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Translate SQLite and OS errors raised in the block to VisorError."""
    try:
        yield
    except apsw.Error as error:
        raise _translate_error(error, path) from error
    except OverflowError as error:
        raise BadRequest(
            "a number of this call is too large: no stored id or count exceeds 9223372036854775807",
            hint="Check the numbers of the call.",
        ) from error
    except OSError as error:
        # Raised by our own file operations; SQLite raises apsw.Error for its own.
        raise StorageError(
            f"{path}: {error.strerror}", hint="Check permissions and free space of the folder."
        ) from error


def _translate_error(error: apsw.Error, path: str) -> VisorError:
    # Any error that is not listed means an invalid statement, which is our bug and not a problem with the disk.
    for kinds, message, hint in _MESSAGES_BY_ERROR:
        if isinstance(error, kinds):
            return StorageError(f"{message.format(path=path)} ({error})", hint=hint)
    return InternalError(f"SQLite rejected a statement: {error}")


_WAL_HEADER_BYTES = 32
_WAL_MAGICS = {0x377F0682: "<", 0x377F0683: ">"}
_SIDE_FILES = ("-wal", "-shm")


class RepairableDamage(StorageError):
    """The files are damaged, but the open connections still have the whole content."""


class FileGuard:
    """What the files of the database at ``path`` were after our last write. Used by the writer thread only."""

    def __init__(self, path: str):
        self._path = path
        self._inodes: dict[str, int] = {}
        self._size = 0

    def remember(self) -> None:
        """Take the files as they are for undamaged."""
        self._size = 0
        for suffix in ("", *_SIDE_FILES):
            if status := _stat(self._path + suffix):
                self._inodes[suffix] = status.st_ino
                self._size = self._size if suffix else status.st_size

    def check(self, needed_bytes: int) -> None:
        """Raise StorageError if the files were changed by another program; RepairableDamage if nothing is lost yet.

        ``needed_bytes`` is the size that a complete database file has.
        """
        status = _stat(self._path)
        if status is None:
            raise RepairableDamage(f"the database {self._path} was deleted while the daemon was running")
        if status.st_ino != self._inodes.get("", status.st_ino):
            raise _build_error(
                f"{self._path} was replaced by another file while the daemon was running; nothing can be stored"
            )
        # A checkpoint may write less than the whole file, and only a vacuum shortens it, to what is needed.
        if status.st_size < min(self._size, needed_bytes):
            raise _build_error(f"{self._path} was cut from {self._size} to {status.st_size} bytes")
        self._check_side_files()

    def _check_side_files(self) -> None:
        for suffix in _SIDE_FILES:
            known, status = self._inodes.get(suffix), _stat(self._path + suffix)
            if known is not None and (status is None or status.st_ino != known):
                raise RepairableDamage(f"{self._path}{suffix} was deleted while the daemon was running")
        if not is_wal_header_intact(f"{self._path}-wal"):
            raise RepairableDamage(f"the header of {self._path}-wal was overwritten while the daemon was running")


def is_wal_header_intact(path: str) -> bool:
    """Return True if SQLite would read this write-ahead log: it is empty, or its header has the right checksum."""
    try:
        with open(path, "rb", buffering=0) as file:
            header = file.read(_WAL_HEADER_BYTES)
    except FileNotFoundError:
        return True
    if not header:
        return True
    if len(header) < _WAL_HEADER_BYTES:
        return False
    order = _WAL_MAGICS.get(int.from_bytes(header[:4], "big"))
    if order is None:
        return False
    first = second = 0
    words = struct.unpack(f"{order}6I", header[:24])
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return (first, second) == struct.unpack(">2I", header[24:])


def _build_error(message: str) -> StorageError:
    return StorageError(
        message,
        hint="Pane output stays in the raw log. Stop with `visor down`, then restore a backup with `visor db restore`.",
    )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
