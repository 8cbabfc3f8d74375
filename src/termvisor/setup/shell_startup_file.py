"""A shell's start file with our block in it, between two marker lines; every other byte stays as it is.

Law: `without_block(with_block(data, body)) == data` for whatever stood there, or did not. The marker line remembers
what had to be added around the block, so that it can be taken away again.
"""

import os
import re
import stat
from contextlib import suppress

from msgspec import Struct

from termvisor.errors import ConfigError, Unavailable, Unsupported
from termvisor.system import atomic_write

_BEGIN_MARKER, _END_MARKER = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"
_BEGIN_LINE_PATTERN = re.compile(rb"^" + re.escape(_BEGIN_MARKER) + rb"([^\r\n]*)\r?\n", re.MULTILINE)
_END_LINE_PATTERN = re.compile(rb"^" + re.escape(_END_MARKER) + rb"\r?(?:\n|\Z)", re.MULTILINE)
_NOTE_FILE_CREATED, _NOTE_NEWLINE_ADDED = b" (made this file)", b" (ended the line above)"
_NEW_FILE_MODE = 0o644
"""The rights of a start file that was not there."""
_MANUAL_SETUP_HINT = "`visor setup shell --print` shows what to put there by hand."


class _SplitFile(Struct, frozen=True):
    head: bytes
    note: bytes
    tail: bytes


def add_block(data: bytes | None, body: bytes) -> bytes:
    """The file with this block: in the old one's place, else at the end. None stands for a file that is not there."""
    old = _split_at_block(data or b"")
    if old is None:
        note = _NOTE_FILE_CREATED if data is None else _NOTE_NEWLINE_ADDED if data and not data.endswith(b"\n") else b""
        old = _SplitFile((data or b"") + (b"\n" if note == _NOTE_NEWLINE_ADDED else b""), note, b"")
    return old.head + _BEGIN_MARKER + old.note + b"\n" + body.rstrip(b"\n") + b"\n" + _END_MARKER + b"\n" + old.tail


def remove_block(data: bytes | None) -> bytes | None:
    """What stood there without us; None where the file was made for the block and has nothing else in it."""
    found = _split_at_block(data or b"")
    if found is None:
        return data
    is_whole_again = found.note == _NOTE_NEWLINE_ADDED and found.head.endswith(b"\n") and not found.tail
    rest = (found.head[:-1] if is_whole_again else found.head) + found.tail
    return None if found.note == _NOTE_FILE_CREATED and not rest else rest


def has_block(data: bytes | None) -> bool:
    return _split_at_block(data or b"") is not None


def _split_at_block(data: bytes) -> _SplitFile | None:
    """What is before and behind the block; None without one. Half a pair, or two, is nothing to guess about."""
    begins, ends = list(_BEGIN_LINE_PATTERN.finditer(data)), list(_END_LINE_PATTERN.finditer(data))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise ConfigError(
            "the marker lines of `visor setup shell` are damaged; nothing was done",
            hint=f"Take out what is left between `{_BEGIN_MARKER.decode()}` and `{_END_MARKER.decode()}`, these lines too, by hand.",
        )
    return _SplitFile(data[: begins[0].start()], begins[0][1], data[ends[0].end() :])


def read_user_file(path: str) -> bytes | None:
    """The file's bytes; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", hint="Check the file's rights.") from error


def replace_user_file(
    path: str, data: bytes | None, *, backup_data: bytes | None = None, hint: str = _MANUAL_SETUP_HINT
) -> None:
    """Write the file anew, whole or not at all, with its owner and rights; a link stays one. None takes it away.

    ``kept`` is first written beside it, with the same rights.
    """
    target = os.path.realpath(path)
    try:
        like = atomic_write.stat_if_exists(target)
        if like is not None:
            _check_replaceable(path, like, hint)
        if backup_data is not None:
            atomic_write.write_atomically(get_backup_path(path), backup_data, like, _NEW_FILE_MODE)
        if data is None:
            os.unlink(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            atomic_write.write_atomically(target, data, like, _NEW_FILE_MODE)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}; nothing was changed", hint=hint) from error


def get_backup_path(path: str) -> str:
    return f"{path}.before-visor"


def remove_redundant_backup(path: str, data: bytes | None) -> str | None:
    """Remove the copy if it says only what the file says again; else its path."""
    beside = get_backup_path(path)
    kept = read_user_file(beside)
    if kept is not None and kept == data:
        with suppress(OSError):
            os.unlink(beside)
    return beside if os.path.lexists(beside) else None


def _check_replaceable(path: str, file_stat: os.stat_result, hint: str) -> None:
    """What a person keeps from being written, or what an atomic write would part, is left alone."""
    if not stat.S_ISREG(file_stat.st_mode):
        raise Unsupported(f"{path} is no ordinary file; nothing was changed", hint=hint)
    if not file_stat.st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise Unavailable(f"{path} is read-only; nothing was changed", hint=hint)
    if file_stat.st_nlink > 1:
        raise Unsupported(f"{path} has another name (a hard link); nothing was changed", hint=hint)
