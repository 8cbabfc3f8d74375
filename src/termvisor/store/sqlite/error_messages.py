"""What SQLite complains about, in words that say what to do next."""

import contextlib
from collections.abc import Iterator

import apsw

from termvisor.errors import InternalError, StorageError, VisorError

_MESSAGES_BY_ERROR: tuple[tuple[tuple[type[apsw.Error], ...], str, str], ...] = (
    (
        (apsw.NotADBError, apsw.CorruptError, apsw.FormatError),
        "the database {path} is damaged or is none",
        "It was left as it is. Move it away to begin a new one, or put back a copy.",
    ),
    (
        (apsw.FullError,),
        "the disk is full: {path} cannot grow",
        "Free some space; what panes print is kept in the raw log as long as that can be written.",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        "the database {path} cannot be written: it is read-only",
        "Check the rights of the file and its folder, and that the file system is not mounted read-only.",
    ),
    (
        (apsw.CantOpenError,),
        "the database {path} cannot be opened",
        "Check that its folder exists and is yours.",
    ),
    (
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        "another program holds the database {path}",
        "Wait until it is done, or end it.",
    ),
    ((apsw.IOError,), "the disk under {path} does not answer as it should", "Check the disk and its free space."),
)


_PERMANENT_ERRORS = _MESSAGES_BY_ERROR[0][0]


@contextlib.contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """SQLite's and the system's errors as ours."""
    try:
        yield
    except apsw.Error as error:
        raise _translate_error(error, path) from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}", hint="Check the folder's rights and free space.") from error


def is_transient_error(error: StorageError) -> bool:
    """Whether the same write may go well later, by itself or when somebody made room."""
    cause = error.__cause__
    return isinstance(cause, (apsw.Error, OSError)) and not isinstance(cause, _PERMANENT_ERRORS)


def _translate_error(error: apsw.Error, path: str) -> VisorError:
    for kinds, message, hint in _MESSAGES_BY_ERROR:
        if isinstance(error, kinds):
            return StorageError(f"{message.format(path=path)} ({error})", hint=hint)
    return InternalError(f"the database refused a statement of ours: {error}")
