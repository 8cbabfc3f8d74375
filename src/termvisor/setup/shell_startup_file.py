"""Add our block to the content of a shell startup file, between two marker lines, and remove it again.

Invariant: `remove_block(add_block(data, body)) == data` for any content, or none. The begin marker notes what was added
around the block, so that it can be removed too.
"""

import re

from msgspec import Struct

from termvisor.errors import ConfigError

_BEGIN_MARKER, _END_MARKER = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"
_BEGIN_LINE_PATTERN = re.compile(rb"^" + re.escape(_BEGIN_MARKER) + rb"([^\r\n]*)\r?\n", re.MULTILINE)
_END_LINE_PATTERN = re.compile(rb"^" + re.escape(_END_MARKER) + rb"\r?(?:\n|\Z)", re.MULTILINE)
_NOTE_FILE_CREATED, _NOTE_NEWLINE_ADDED = b" (made this file)", b" (ended the line above)"


class _SplitFile(Struct, frozen=True):
    head: bytes
    note: bytes
    tail: bytes


def add_block(data: bytes | None, body: bytes) -> bytes:
    """Return the content with this block, in place of an old one or at the end; None means no file."""
    old = _split_at_block(data or b"")
    if old is None:
        note = _NOTE_FILE_CREATED if data is None else _NOTE_NEWLINE_ADDED if data and not data.endswith(b"\n") else b""
        old = _SplitFile((data or b"") + (b"\n" if note == _NOTE_NEWLINE_ADDED else b""), note, b"")
    return old.head + _BEGIN_MARKER + old.note + b"\n" + body.rstrip(b"\n") + b"\n" + _END_MARKER + b"\n" + old.tail


def remove_block(data: bytes | None) -> bytes | None:
    """Return the content without the block; None if the file was created for it and holds nothing else."""
    split = _split_at_block(data or b"")
    if split is None:
        return data
    removes_newline = split.note == _NOTE_NEWLINE_ADDED and split.head.endswith(b"\n") and not split.tail
    rest = (split.head[:-1] if removes_newline else split.head) + split.tail
    return None if split.note == _NOTE_FILE_CREATED and not rest else rest


def has_block(data: bytes | None) -> bool:
    return _split_at_block(data or b"") is not None


def _split_at_block(data: bytes) -> _SplitFile | None:
    """Split the content around the block; None without one. Raises ConfigError if the markers are damaged."""
    begins, ends = list(_BEGIN_LINE_PATTERN.finditer(data)), list(_END_LINE_PATTERN.finditer(data))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise ConfigError(
            "the marker lines of `visor setup shell` are damaged; nothing was changed",
            hint=f"Delete the lines from `{_BEGIN_MARKER.decode()}` to `{_END_MARKER.decode()}` by hand.",
        )
    return _SplitFile(data[: begins[0].start()], begins[0][1], data[ends[0].end() :])
