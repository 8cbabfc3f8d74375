"""Translate SQLite and OS errors to StorageError with a message and a hint."""

import contextlib
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
