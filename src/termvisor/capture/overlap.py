"""Prove where a screen continues the lines that are already stored. Pure.

Invariant: rows are returned only if the stored lines that end just above them are found in exactly one place, and hold
three different texts: a repeated prompt or a progress line proves nothing. The price is one look at each row.
"""

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

# Distinct non-blank lines that must match in exactly one place, because repeated prompts prove nothing.
_MIN_DISTINCT_LINES = 3
_MAX_COMPARED_LINES = 50
_TAB_COLUMNS = 8


def find_rows_after_tail(tail: Sequence[str], rows: Sequence[str]) -> list[str] | None:
    """Return the rows that follow the stored tail in a capture; None if the tail is absent or ambiguous.

    A terminal shows tabs as blanks and does not show blanks at the end of a line, so both are compared that way.
    """
    compared = _normalize_lines(tail[-_MAX_COMPARED_LINES:])
    if _count_distinct(compared) < _MIN_DISTINCT_LINES:
        return None
    shown = _normalize_lines(rows)
    ends = _find_tail_ends(compared, shown)
    end = next(ends, None)
    return None if end is None or next(ends, None) is not None else list(rows[end:])


def normalize_line(line: str) -> str:
    """Return a line as a terminal with tab stops at every eighth column shows it, without blanks at its end."""
    if "\t" not in line:
        return line.rstrip(" ")
    if line.isascii():
        return line.expandtabs(_TAB_COLUMNS).rstrip(" ")
    text, column = [], 0
    for character in line:
        if character == "\t":
            width = _TAB_COLUMNS - column % _TAB_COLUMNS
            text.append(" " * width)
        else:
            width = 2 if east_asian_width(character) in "WF" else 1
            text.append(character)
        column += width
    return "".join(text).rstrip(" ")


def _normalize_lines(lines: Sequence[str]) -> Sequence[str]:
    # Most screens need nothing, and two searches in one text cost a fifth of a call for each row.
    text = "\n".join(lines)
    is_plain = "\t" not in text and " \n" not in text and not text.endswith(" ")
    return lines if is_plain else [normalize_line(line) for line in lines]


def _find_tail_ends(tail: Sequence[str], rows: Sequence[str]) -> Iterator[int]:
    """Yield each number of rows that end like the tail, as far as both reach back."""
    start = 0
    while True:
        try:
            end = rows.index(tail[-1], start) + 1
        except ValueError:
            return
        depth = min(len(tail), end)
        if (
            list(tail[-depth:]) == list(rows[end - depth : end])
            and _count_distinct(tail[-depth:]) >= _MIN_DISTINCT_LINES
        ):
            yield end
        start = end


def _count_distinct(lines: Sequence[str]) -> int:
    return len({line for line in lines if line.strip()})
