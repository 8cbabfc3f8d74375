"""What SQLite complains about, in words that say what to do next."""

import contextlib
from collections.abc import Iterator

import apsw

from termvisor.errors import Broken, StorageError, VisorError

_TROUBLES: tuple[tuple[tuple[type[apsw.Error], ...], str, str], ...] = (
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


_LASTING = _TROUBLES[0][0]


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """SQLite's and the system's errors as ours."""
    try:
        yield
    except apsw.Error as error:
        raise _explained(error, path) from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}", hint="Check the folder's rights and free space.") from error


def may_pass(error: StorageError) -> bool:
    """Whether the same write may go well later, by itself or when somebody made room."""
    cause = error.__cause__
    return isinstance(cause, (apsw.Error, OSError)) and not isinstance(cause, _LASTING)


def _explained(error: apsw.Error, path: str) -> VisorError:
    for kinds, message, hint in _TROUBLES:
        if isinstance(error, kinds):
            return StorageError(f"{message.format(path=path)} ({error})", hint=hint)
    return Broken(f"the database refused a statement of ours: {error}")
