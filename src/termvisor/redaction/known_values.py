"""Secrets that are known by their value, because a caller typed them or a job's pattern matched them: masked wherever
they appear in text, also wrapped over two lines. They are kept in memory only, for the life of this process.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

MASK = "[redacted:secret]"
_MIN_CHARS = 4
"""A shorter value would mask ordinary text everywhere."""
_MAX_VALUES = 1000
_lock = threading.Lock()
_values: dict[str, None] = {}
_sorted: tuple[str, ...] = ()
_patterns: list[re.Pattern[str]] = []


def register_secret(value: str) -> None:
    """Mask a value from now on. Its lines count one by one; short ones are ordinary text."""
    global _sorted  # noqa: PLW0603
    with _lock:
        for line in value.splitlines():
            if len(line.strip()) >= _MIN_CHARS:
                _values.pop(line.strip(), None)
                _values[line.strip()] = None
        while len(_values) > _MAX_VALUES:
            del _values[next(iter(_values))]
        # The longest first: one value may be part of another.
        _sorted = tuple(sorted(_values, key=len, reverse=True))


@contextmanager
def use_pattern(pattern: str) -> Iterator[None]:
    """Mask what a pattern matches (its group `secret`, if it has one), and keep masking those values afterwards."""
    compiled = re.compile(pattern)
    _patterns.append(compiled)
    try:
        yield
    finally:
        _patterns.remove(compiled)


def list_known_values() -> tuple[str, ...]:
    """Return all values, the longest first."""
    return _sorted


def has_known_values() -> bool:
    return bool(_sorted or _patterns)


def find_matched_values(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the secrets that a pattern finds: its group `secret`, else the whole match."""
    group: str | int = "secret" if "secret" in pattern.groupindex else 0
    return [found[group] for found in pattern.finditer(text) if found[group]]


def mask_known_values(texts: Sequence[str]) -> list[str]:
    """Return the lines with every known value masked, also one that continues on the next line."""
    lines = list(texts)
    for pattern in tuple(_patterns):
        for line in lines:
            for value in find_matched_values(pattern, line):
                register_secret(value)
    for value in _sorted:
        lines = [line.replace(value, MASK) if value in line else line for line in lines]
        for number in range(len(lines) - 1):
            cut = _find_cut(value, lines[number], lines[number + 1])
            if cut:
                lines[number] = lines[number][:-cut] + MASK
                lines[number + 1] = lines[number + 1][len(value) - cut :]
    return lines


def _find_cut(value: str, line: str, following: str) -> int:
    """Return how many characters of the value end the line if the next one begins with the rest; 0 if none."""
    for length in range(min(len(value) - 1, len(line)), 0, -1):
        if line.endswith(value[:length]) and following.startswith(value[length:]):
            return length
    return 0
