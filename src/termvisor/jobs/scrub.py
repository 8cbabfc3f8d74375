"""Overwrite known secrets in the raw log of a job's terminal, in place: same length, so that all offsets stay.

Segments that were compressed meanwhile are left to the masks that apply whenever text leaves the program.
"""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from termvisor.recorder.segment import build_raw_path, list_segment_starts
from termvisor.redaction.known_values import find_matched_values, register_secret

_CHUNK_BYTES = 1 << 20
_OVERLAP_BYTES = 4096


def overwrite_in_folder(folder: str, values: Iterable[bytes], patterns: Sequence[str] = (), after: int = 0) -> int:
    """Overwrite all values, and what the patterns match, in the segments of an epoch; return how many were found.

    Segments that end before the offset ``after`` were scrubbed before.
    """
    starts = list_segment_starts(folder)
    found = 0
    for start, following in zip(starts, [*starts[1:], None], strict=False):
        if following is None or following > after:
            with suppress(FileNotFoundError, PermissionError):  # deleted, compressed or sealed meanwhile
                found += _overwrite_in_file(
                    build_raw_path(folder, start), list(values), patterns, max(0, after - start)
                )
    return found


def _overwrite_in_file(path: str, values: list[bytes], patterns: Sequence[str], after: int) -> int:
    compiled = [re.compile(pattern) for pattern in patterns]
    # Not through the writer of the recorder: it only appends, and what is overwritten here is behind it.
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    found = 0
    try:
        offset = max(0, after - _OVERLAP_BYTES)
        while data := os.pread(descriptor, _CHUNK_BYTES + _OVERLAP_BYTES, offset):
            values += _find_values(compiled, data)
            found += sum(_overwrite(descriptor, data, offset, value) for value in set(values))
            if len(data) <= _CHUNK_BYTES:
                break
            offset += _CHUNK_BYTES
    finally:
        os.close(descriptor)
    return found


def _find_values(patterns: Sequence[re.Pattern[str]], data: bytes) -> list[bytes]:
    texts = [text for pattern in patterns for text in find_matched_values(pattern, data.decode("latin-1"))]
    for text in texts:
        register_secret(text)
    return [text.encode("latin-1") for text in texts]


def _overwrite(descriptor: int, data: bytes, offset: int, value: bytes) -> int:
    found, at = 0, data.find(value) if value else -1
    while at >= 0:
        os.pwrite(descriptor, b"*" * len(value), offset + at)
        found += 1
        at = data.find(value, at + len(value))
    return found
