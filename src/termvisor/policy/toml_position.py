"""Find the line of a key in a TOML text by bisection with the TOML parser, which understands every spelling."""

import tomllib
from collections.abc import Sequence

PathStep = str | int
_TomlValue = object


def find_key_line(text: str, path: Sequence[PathStep]) -> int | None:
    """Return the line, from 1, of the statement that sets the key at ``path``; None if there is none."""
    lines = text.split("\n")
    low, high = 1, len(lines)
    if not _has_path(_parse_lines(lines, high), path):
        return None
    while low < high:
        middle = (low + high) // 2
        end = _find_statement_end(lines, middle, high)
        if _has_path(_parse_lines(lines, end), path):
            high = middle
        else:
            low = end + 1
    return _find_statement_start(lines, low)


def _find_statement_end(lines: list[str], end: int, last_line: int) -> int:
    """Return the first line from ``end`` on at which a statement is complete."""
    return next((at for at in range(end, last_line) if _parse_lines(lines, at) is not None), last_line)


def _find_statement_start(lines: list[str], end: int) -> int:
    """Return the line after the last one at which all statements are complete."""
    return next((at + 1 for at in range(end - 1, 0, -1) if _parse_lines(lines, at) is not None), 1)


def _parse_lines(lines: list[str], count: int) -> _TomlValue:
    try:
        return tomllib.loads("\n".join(lines[:count]))
    except tomllib.TOMLDecodeError:
        return None


def _has_path(value: _TomlValue, path: Sequence[PathStep]) -> bool:
    if not path:
        return True
    step, *rest = path
    if isinstance(value, dict) and isinstance(step, str):
        return step in value and _has_path(value[step], rest)
    if isinstance(value, list) and isinstance(step, int):
        return step < len(value) and _has_path(value[step], rest)
    return False
