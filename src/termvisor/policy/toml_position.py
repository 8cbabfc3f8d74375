"""On which line of a TOML text a key stands; found with the TOML reader itself, which understands every spelling."""

import tomllib
from collections.abc import Sequence

Step = str | int
_Value = object


def line_of(text: str, path: Sequence[Step]) -> int | None:
    """The line, from 1, on which the statement begins that sets the key at ``path``; None when none does."""
    lines = text.split("\n")
    low, high = 1, len(lines)
    if not _holds(_read(lines, high), path):
        return None
    while low < high:
        middle = (low + high) // 2
        end = _whole(lines, middle, high)
        if _holds(_read(lines, end), path):
            high = middle
        else:
            low = end + 1
    return _begin(lines, low)


def _whole(lines: list[str], end: int, most: int) -> int:
    """The first line from ``end`` on at which a statement is complete."""
    return next((at for at in range(end, most) if _read(lines, at) is not None), most)


def _begin(lines: list[str], end: int) -> int:
    """Behind the last line at which everything before is complete."""
    return next((at + 1 for at in range(end - 1, 0, -1) if _read(lines, at) is not None), 1)


def _read(lines: list[str], count: int) -> _Value:
    try:
        return tomllib.loads("\n".join(lines[:count]))
    except tomllib.TOMLDecodeError:
        return None


def _holds(value: _Value, path: Sequence[Step]) -> bool:
    if not path:
        return True
    step, *rest = path
    if isinstance(value, dict) and isinstance(step, str):
        return step in value and _holds(value[step], rest)
    if isinstance(value, list) and isinstance(step, int):
        return step < len(value) and _holds(value[step], rest)
    return False
