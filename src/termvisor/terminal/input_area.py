"""Find the input area of a screen: the cursor's row and the box or rules directly around it. Pure.

A hidden cursor is where the program last painted, so it counts only inside a frame or after a prompt glyph. This is a
heuristic that fits most programs; knowledge about a particular program belongs in its adapter.
"""

from collections.abc import Sequence
from unicodedata import category, east_asian_width

# Maximum number of rows from the cursor to the frame. A frame farther away encloses more than the input.
_MAX_FRAME_DISTANCE = 5
_RULE_GLYPHS = frozenset("─━═╌╍┄┅┈┉╴╶╸╺▀▄▔▁_-=~▂▃▅▆▇█")
_CORNER_GLYPHS = frozenset("╭╮╰╯┌┐└┘┏┓┗┛╔╗╚╝├┤┣┫╠╣╹╻+")
_BAR_GLYPHS = frozenset("│┃║|▌▐▏▕")
_PROMPT_GLYPHS = frozenset("❯›>»❱")
_MIN_RULE_LENGTH = 8


def find_input_rows(rows: Sequence[str], cursor: int, *, has_cursor: bool = True) -> range:
    """Return the rows of the input area; ``cursor`` is the cursor's row, ``has_cursor`` is False if it is hidden."""
    if not 0 <= cursor < len(rows):
        return range(0)
    is_typed = has_cursor or rows[cursor].lstrip()[:1] in _PROMPT_GLYPHS
    fallback = range(cursor, cursor + 1) if is_typed else range(0)
    return _find_enclosed_rows(rows, cursor) or _find_barred_rows(rows, cursor, fallback)


def locate_cursor(rows: Sequence[str], size: tuple[int, int], x: int, y: int) -> tuple[int, int] | None:
    """Return the index of the joined row that holds the cursor, and the cursor's column in it.

    A capture joins wrapped rows, but ``y`` counts the rows of the screen of ``size`` (width, height). A joined row
    covers as many of them as its text needs. If there are as many rows as the height, none is joined.
    """
    width, height = size
    if len(rows) == height and y < height:
        return y, x
    top = 0
    for number, row in enumerate(rows):
        covered = max(1, -(-count_columns(row.rstrip()) // max(1, width)))
        if y < top + covered:
            return number, (y - top) * width + x
        top += covered
    return None


def count_columns(text: str) -> int:
    """Return the number of columns a terminal needs for the text."""
    return len(text) if text.isascii() else sum(map(_count_character_columns, text))


def _count_character_columns(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _find_enclosed_rows(rows: Sequence[str], cursor: int) -> range | None:
    """Return the rows enclosed by a frame or two rules, or None if there is no such pair."""
    above = _find_nearest_rule(rows, range(cursor - 1, cursor - 1 - _MAX_FRAME_DISTANCE, -1))
    below = _find_nearest_rule(rows, range(cursor + 1, cursor + 1 + _MAX_FRAME_DISTANCE))
    if above is None or below is None or _is_rule(rows[cursor]):
        return None
    return range(above, below + 1)


def _find_barred_rows(rows: Sequence[str], cursor: int, fallback: range) -> range:
    """Return the rows next to a bar at the left if it is as short as that of an input box, else ``fallback``."""
    bar = _find_bar(rows[cursor])
    if bar is None:
        return fallback
    first = last = cursor
    while first > 0 and _find_bar(rows[first - 1]) == bar:
        first -= 1
    while last + 1 < len(rows) and _find_bar(rows[last + 1]) == bar:
        last += 1
    is_short = cursor - first < _MAX_FRAME_DISTANCE and last - cursor < _MAX_FRAME_DISTANCE
    return range(first, last + 1) if is_short else fallback


def _find_nearest_rule(rows: Sequence[str], candidates: range) -> int | None:
    """Return the nearest rule that is not beyond a blank row, since dialogs have blank rows and are no input areas."""
    for number in candidates:
        if not 0 <= number < len(rows) or not rows[number].strip():
            return None
        if _is_rule(rows[number]):
            return number
    return None


def _is_rule(row: str) -> bool:
    """Return True for a rule, or for the upper or lower edge of a box, with or without a title."""
    text = row.strip()
    edges = _RULE_GLYPHS | _CORNER_GLYPHS
    if len(text) < _MIN_RULE_LENGTH or text[0] not in edges or text[-1] not in edges:
        return False
    return sum(character in edges for character in text) * 2 >= len(text)


def _find_bar(row: str) -> tuple[int, str] | None:
    """Return the column and glyph of the bar at the start of the row, or None if there is none."""
    text = row.lstrip(" ")
    return (len(row) - len(text), text[0]) if text and text[0] in _BAR_GLYPHS else None
