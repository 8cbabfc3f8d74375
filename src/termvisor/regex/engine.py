"""The engine contract: find the ids of the patterns that match a text.

Patterns are Python regular expressions without look-around and back-references. ``^`` and ``$`` match at every line,
``.`` does not match a newline, ``\\w \\d \\s \\b`` are ASCII only. Text is UTF-8; invalid bytes count as U+FFFD.
An engine returns only ids: spans and captures are found by ``re`` on the few lines that match.
"""

from collections.abc import Callable
from typing import Protocol


class PatternMatcher(Protocol):
    """Compiled patterns. Safe for use by several threads at once."""

    def find_ids(self, data: bytes) -> frozenset[str]:
        """Return the ids of the patterns that match anywhere in the text."""

    def find_line_ids(self, data: bytes) -> list[tuple[int, str]]:
        """Return the patterns that match each line by itself, as sorted (line index, id)."""


def find_ids_by_line(find_ids: Callable[[bytes], frozenset[str]], data: bytes) -> list[tuple[int, str]]:
    """Return the matches of each line by bisecting the blocks that match: most text matches nothing at all."""
    if not find_ids(data):
        return []
    lines = data.split(b"\n")
    matches: list[tuple[int, str]] = []
    ranges = _split_range(0, len(lines))
    while ranges:
        start, end = ranges.pop()
        ids = find_ids(b"\n".join(lines[start:end]))
        if ids and end - start == 1:
            matches += [(start, name) for name in ids]
        elif ids:
            ranges += _split_range(start, end)
    return sorted(matches)


def _split_range(start: int, end: int) -> list[tuple[int, int]]:
    middle = (start + end) // 2
    return [(start, middle), (middle, end)] if middle > start else [(start, end)]


def ensure_utf8(data: bytes) -> bytes:
    """Return the data with invalid UTF-8 replaced, on which both engines return wrong results or crash."""
    # Most output is ASCII, and this check is much cheaper than decoding.
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace").encode()
    return data
