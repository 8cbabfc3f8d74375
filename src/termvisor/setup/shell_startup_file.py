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
from termvisor.system import atomic_write as whole_file

_BEGIN, _END = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"
_BEGINS = re.compile(rb"^" + re.escape(_BEGIN) + rb"([^\r\n]*)\r?\n", re.MULTILINE)
_ENDS = re.compile(rb"^" + re.escape(_END) + rb"\r?(?:\n|\Z)", re.MULTILINE)
_MADE, _ENDED = b" (made this file)", b" (ended the line above)"
_NEW = 0o644
"""The rights of a start file that was not there."""
_BY_HAND = "`visor setup shell --print` shows what to put there by hand."


class _Parted(Struct, frozen=True):
    head: bytes
    note: bytes
    tail: bytes


def with_block(data: bytes | None, body: bytes) -> bytes:
    """The file with this block: in the old one's place, else at the end. None stands for a file that is not there."""
    old = _parted(data or b"")
    if old is None:
        note = _MADE if data is None else _ENDED if data and not data.endswith(b"\n") else b""
        old = _Parted((data or b"") + (b"\n" if note == _ENDED else b""), note, b"")
    return old.head + _BEGIN + old.note + b"\n" + body.rstrip(b"\n") + b"\n" + _END + b"\n" + old.tail


def without_block(data: bytes | None) -> bytes | None:
    """What stood there without us; None where the file was made for the block and has nothing else in it."""
    found = _parted(data or b"")
    if found is None:
        return data
    is_whole_again = found.note == _ENDED and found.head.endswith(b"\n") and not found.tail
    rest = (found.head[:-1] if is_whole_again else found.head) + found.tail
    return None if found.note == _MADE and not rest else rest


def has_block(data: bytes | None) -> bool:
    return _parted(data or b"") is not None


def _parted(data: bytes) -> _Parted | None:
    """What is before and behind the block; None without one. Half a pair, or two, is nothing to guess about."""
    begins, ends = list(_BEGINS.finditer(data)), list(_ENDS.finditer(data))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise ConfigError(
            "the marker lines of `visor setup shell` are damaged; nothing was done",
            hint=f"Take out what is left between `{_BEGIN.decode()}` and `{_END.decode()}`, these lines too, by hand.",
        )
    return _Parted(data[: begins[0].start()], begins[0][1], data[ends[0].end() :])


def read(path: str) -> bytes | None:
    """The file's bytes; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", hint="Check the file's rights.") from error


def replace(path: str, data: bytes | None, *, kept: bytes | None = None, hint: str = _BY_HAND) -> None:
    """Write the file anew, whole or not at all, with its owner and rights; a link stays one. None takes it away.

    ``kept`` is first written beside it, with the same rights.
    """
    target = os.path.realpath(path)
    try:
        like = whole_file.found(target)
        if like is not None:
            _check(path, like, hint)
        if kept is not None:
            whole_file.write(backup(path), kept, like, _NEW)
        if data is None:
            os.unlink(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            whole_file.write(target, data, like, _NEW)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}; nothing was changed", hint=hint) from error


def backup(path: str) -> str:
    return f"{path}.before-visor"


def forget(path: str, data: bytes | None) -> str | None:
    """Remove the copy if it says only what the file says again; else its path."""
    beside = backup(path)
    kept = read(beside)
    if kept is not None and kept == data:
        with suppress(OSError):
            os.unlink(beside)
    return beside if os.path.lexists(beside) else None


def _check(path: str, found: os.stat_result, hint: str) -> None:
    """What a person keeps from being written, or what an atomic write would part, is left alone."""
    if not stat.S_ISREG(found.st_mode):
        raise Unsupported(f"{path} is no ordinary file; nothing was changed", hint=hint)
    if not found.st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise Unavailable(f"{path} is read-only; nothing was changed", hint=hint)
    if found.st_nlink > 1:
        raise Unsupported(f"{path} has another name (a hard link); nothing was changed", hint=hint)
