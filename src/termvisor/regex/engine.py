"""The contract of an engine: which pattern ids match this text.

Patterns are Python regular expressions without look-around and back-references. ``^`` and ``$`` stand at every line,
``.`` does not cross a newline, ``\\w \\d \\s \\b`` know ASCII only. Text is UTF-8; bytes that are not read as U+FFFD.
An engine answers with a set: spans and captures are found by ``re`` on the few lines that hit.
"""

from collections.abc import Callable
from typing import Protocol


class PatternMatcher(Protocol):
    """May be used by several threads at once."""

    def find_ids(self, data: bytes) -> frozenset[str]:
        """The patterns that match somewhere in the text."""

    def find_line_ids(self, data: bytes) -> list[tuple[int, str]]:
        """The patterns that match on each line taken alone, as sorted (line index, id)."""


def find_ids_by_line(find_ids: Callable[[bytes], frozenset[str]], data: bytes) -> list[tuple[int, str]]:
    """Scan the block once; where it hits, halve it until single lines are left."""
    if not find_ids(data):
        return []
    lines = data.split(b"\n")
    found: list[tuple[int, str]] = []
    todo = _split_range(0, len(lines))
    while todo:
        start, end = todo.pop()
        hits = find_ids(b"\n".join(lines[start:end]))
        if hits and end - start == 1:
            found += [(start, name) for name in hits]
        elif hits:
            todo += _split_range(start, end)
    return sorted(found)


def _split_range(start: int, end: int) -> list[tuple[int, int]]:
    middle = (start + end) // 2
    return [(start, middle), (middle, end)] if middle > start else [(start, end)]


def ensure_utf8(data: bytes) -> bytes:
    """Both engines give wrong answers, or worse, on bytes that are not UTF-8."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace").encode()
    return data
