"""Show changes to a user's file as a diff, and replace the file atomically after a backup.

Invariants: a file is replaced completely or not at all, with its owner and mode; a symbolic link stays a link.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from termvisor.errors import Unavailable, Unsupported
from termvisor.redaction import redact
from termvisor.system import files

_NEW_FILE_MODE = 0o644
"""The mode of a newly created startup file."""
_MANUAL_SETUP_HINT = "`visor setup shell --print` prints the lines, to be added by hand."


class FileChange(Struct, frozen=True):
    """The contents of a file before and after; None for no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def is_empty(self) -> bool:
        return self.before == self.after


def format_diff(change: FileChange) -> str:
    """Return a unified diff, redacted because the user's lines around ours may contain secrets."""
    from difflib import unified_diff

    contents = (change.before, change.after)
    old, new = (list(_split_lines(data)) for data in contents)
    old_name, new_name = (change.path if data is not None else "/dev/null" for data in contents)
    return redact("\n".join(unified_diff(old, new, old_name, new_name, lineterm="")))


def _split_lines(data: bytes | None) -> Iterator[str]:
    *lines, last = (data or b"").decode("utf-8", "replace").split("\n")
    yield from lines
    if last:
        yield last + "\n\\ No newline at end of file"


def read_user_file(path: str) -> bytes | None:
    """Return the content; None if the file does not exist. Raises Unavailable if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", hint="Check the file's permissions.") from error


def replace_user_file(
    path: str, data: bytes | None, *, backup_data: bytes | None = None, hint: str = _MANUAL_SETUP_HINT
) -> None:
    """Replace the file, or delete it if ``data`` is None, after writing ``backup_data`` to a file beside it.

    Raises Unavailable or Unsupported, and changes nothing, if it cannot be replaced.
    """
    # Dotfiles are often links into a repository, and the link must stay.
    target = os.path.realpath(path)
    try:
        old_stat = files.stat_if_exists(target)
        if old_stat is not None:
            _check_replaceable(path, old_stat, hint)
        # Write the backup first, so that a crash in between leaves the original untouched.
        if backup_data is not None:
            files.write_atomically(get_backup_path(path), backup_data, old_stat, _NEW_FILE_MODE)
        if data is None:
            os.unlink(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            files.write_atomically(target, data, old_stat, _NEW_FILE_MODE)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}; nothing was changed", hint=hint) from error


def get_backup_path(path: str) -> str:
    return f"{path}.before-visor"


def remove_redundant_backup(path: str, data: bytes | None) -> str | None:
    """Delete the backup if the file equals it again; return the backup's path if it remains."""
    backup_path = get_backup_path(path)
    backup_data = read_user_file(backup_path)
    if backup_data is not None and backup_data == data:
        with suppress(OSError):  # the path is returned, so the user learns that the backup is still there
            os.unlink(backup_path)
    return backup_path if os.path.lexists(backup_path) else None


def _check_replaceable(path: str, file_stat: os.stat_result, hint: str) -> None:
    """Raise if the file is protected, or if replacing it would break a hard link."""
    if not stat.S_ISREG(file_stat.st_mode):
        raise Unsupported(f"{path} is not a regular file; nothing was changed", hint=hint)
    # A rename would replace even a read-only file if its directory is writable.
    if not file_stat.st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise Unavailable(f"{path} is read-only; nothing was changed", hint=hint)
    # An atomic replacement creates a new file, so the other link would keep the old content.
    if file_stat.st_nlink > 1:
        raise Unsupported(f"{path} has another hard link; nothing was changed", hint=hint)
