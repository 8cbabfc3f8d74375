"""Where a person types on a screen: the row of the cursor, and the box or rules that enclose it closely. Pure.

A cursor that the program hides stands where it last painted, unless a frame or a prompt says that people type there.
A guess that fits most programs; what is known of one program belongs to its adapter.
"""

from collections.abc import Sequence
from unicodedata import category, east_asian_width

_MAX_FRAME_DISTANCE = 5
"""Rows from the cursor to the frame. A frame that is farther away holds more than what is typed."""
_RULE_GLYPHS = frozenset("─━═╌╍┄┅┈┉╴╶╸╺▀▄▔▁_-=~▂▃▅▆▇█")
_CORNER_GLYPHS = frozenset("╭╮╰╯┌┐└┘┏┓┗┛╔╗╚╝├┤┣┫╠╣╹╻+")
_BAR_GLYPHS = frozenset("│┃║|▌▐▏▕")
_PROMPT_GLYPHS = frozenset("❯›>»❱")
_MIN_RULE_LENGTH = 8


def find_input_rows(rows: Sequence[str], cursor: int, *, has_cursor: bool = True) -> range:
    """The rows that are being typed in, given the row in which the cursor stands and whether it is to be seen."""
    if not 0 <= cursor < len(rows):
        return range(0)
    is_typed = has_cursor or rows[cursor].lstrip()[:1] in _PROMPT_GLYPHS
    alone = range(cursor, cursor + 1) if is_typed else range(0)
    return _find_enclosed_rows(rows, cursor) or _find_barred_rows(rows, cursor, alone)


def find_cursor_row(rows: Sequence[str], size: tuple[int, int], cursor_y: int) -> int:
    """Which of the joined rows holds this row of a screen of that width and height.

    A joined row is as many rows of the screen as its text needs; where there are as many as on the screen, none is.
    """
    width, height = size
    if len(rows) == height:
        return cursor_y
    top = 0
    for number, row in enumerate(rows):
        top += max(1, -(-count_columns(row) // max(1, width)))
        if cursor_y < top:
            return number
    return len(rows)


def count_columns(text: str) -> int:
    """How many columns a terminal needs for it."""
    return len(text) if text.isascii() else sum(map(_count_character_columns, text))


def _count_character_columns(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _find_enclosed_rows(rows: Sequence[str], cursor: int) -> range | None:
    """Between two frames or rules."""
    above = _find_nearest_rule(rows, range(cursor - 1, cursor - 1 - _MAX_FRAME_DISTANCE, -1))
    below = _find_nearest_rule(rows, range(cursor + 1, cursor + 1 + _MAX_FRAME_DISTANCE))
    if above is None or below is None or _is_rule(rows[cursor]):
        return None
    return range(above, below + 1)


def _find_barred_rows(rows: Sequence[str], cursor: int, alone: range) -> range:
    """Beside a bar at the left that is short enough to be one of an input box; else the row alone."""
    bar = _find_bar(rows[cursor])
    if bar is None:
        return alone
    first = last = cursor
    while first > 0 and _find_bar(rows[first - 1]) == bar:
        first -= 1
    while last + 1 < len(rows) and _find_bar(rows[last + 1]) == bar:
        last += 1
    return (
        range(first, last + 1)
        if cursor - first < _MAX_FRAME_DISTANCE and last - cursor < _MAX_FRAME_DISTANCE
        else alone
    )


def _find_nearest_rule(rows: Sequence[str], where: range) -> int | None:
    """Not beyond a blank row: dialogs have those, and what a dialog asks is no input."""
    for number in where:
        if not 0 <= number < len(rows) or not rows[number].strip():
            return None
        if _is_rule(rows[number]):
            return number
    return None


def _is_rule(row: str) -> bool:
    """A row that is drawn: a rule, or the upper or lower edge of a box, also one with a title in it."""
    text = row.strip()
    edges = _RULE_GLYPHS | _CORNER_GLYPHS
    if len(text) < _MIN_RULE_LENGTH or text[0] not in edges or text[-1] not in edges:
        return False
    return sum(character in edges for character in text) * 2 >= len(text)


def _find_bar(row: str) -> tuple[int, str] | None:
    """The column and the glyph of a bar with which the row begins."""
    text = row.lstrip(" ")
    return (len(row) - len(text), text[0]) if text and text[0] in _BAR_GLYPHS else None
