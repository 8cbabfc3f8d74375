"""What stands in a program's input, read from its screen. Pure.

Rows come joined and with colours. Comparison is by what remains when white space, frames and prompt signs are taken
away, on both sides: programs wrap, indent and decorate what is typed into them.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.backends.pane_control import PaneState
from termvisor.terminal.input_area import count_columns, find_input_rows

COMPARED_END_CHARS = 24
"""Of a long text, so many characters at its beginning and at its end are compared."""
_LONG_TEXT_CHARS = 200
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])|[\x0e\x0f]")
_GREY_COLOURS = frozenset(["8", *map(str, range(235, 247))])
_IGNORED_CHARACTERS = re.compile(r"[\s│┃║|▌▐▏▕╭╮╰╯┌┐└┘─━═>❯›»$%#…]+")
_GUARD_CHARACTERS = re.compile(r"[A-Za-z0-9 .❯›●→]+")
_WORD_RUN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")


class InputRow(Struct, frozen=True):
    """A row without colours, and which of its characters are faint (placeholders, suggestions)."""

    text: str
    faint: tuple[bool, ...]


class TypedInput(Struct, frozen=True):
    """What stands before the cursor in the input, and what behind it that is not faint."""

    before: str
    behind: str


def strip_decoration(text: str) -> str:
    return _IGNORED_CHARACTERS.sub("", text)


def is_same_text(shown: str, text: str) -> bool:
    """Whether an input that shows this holds that text; of a long one the ends are looked at."""
    seen, wanted = strip_decoration(shown), strip_decoration(text)
    if not wanted:
        return False
    if not _is_long(text):
        return seen == wanted
    return seen.startswith(wanted[:COMPARED_END_CHARS]) and seen.endswith(wanted[-COMPARED_END_CHARS:])


def _is_long(text: str) -> bool:
    return "\n" in text or len(strip_decoration(text)) > _LONG_TEXT_CHARS


def find_guard_piece(text: str, width: int) -> str:
    """A part of the text that a guard can look for in one row of the screen; empty when there is none.

    Not longer than a quarter of a row, so that it is seldom broken by the row's end. Of a long text only the ends are
    sure to be there.
    """
    longest = max(8, width // 4)
    there = f"{text[:COMPARED_END_CHARS]}\n{text[-COMPARED_END_CHARS:]}" if _is_long(text) else text
    parts = _WORD_RUN.findall(there.replace("\n", "\0"))
    return max((part[:longest].strip() for part in parts), key=len, default="")


def find_guard_pieces(rows: Sequence[str], width: int) -> tuple[str, ...]:
    """Of every row of a dialog a part that a guard can look for, with the sign that points at a choice."""
    longest = max(8, width // 2)
    found = (max(_GUARD_CHARACTERS.findall(row), key=len, default="").strip()[:longest].strip() for row in rows)
    return tuple(dict.fromkeys(piece for piece in found if piece))


def read_prompt_input(pane_state: PaneState, column: int, lines: int = 1) -> TypedInput | None:
    """A shell's input of so many lines, which begins in this column of its first (joined) row and ends at the cursor;
    None where it does not, or where its beginning has left the screen.
    """
    rows = [parse_row(row) for row in pane_state.rows]
    place = _find_cursor(rows, pane_state)
    if place is None:
        return None
    number, cursor = place
    first, at = number - lines + 1, _find_column_index(rows[number].text, cursor)
    if first < 0 or (lines == 1 and cursor < column):
        return None
    above = "".join(f"{row.text}\n" for row in rows[first:number])
    before = above + rows[number].text[:at]
    return TypedInput(
        before[_find_column_index(before, column) :], _read_behind_cursor(rows[number], at, pane_state.width)
    )


def read_program_input(pane_state: PaneState) -> TypedInput | None:
    """The input of a program that nothing more is known about: the row of the cursor and the box around it."""
    rows = [parse_row(row) for row in pane_state.rows]
    place = _find_cursor(rows, pane_state)
    if place is None:
        return None
    number, column = place
    area = find_input_rows([row.text for row in rows], number)
    at = _find_column_index(rows[number].text, column)
    before = [drop_faint_text(rows[one]) for one in area if one < number]
    behind = [drop_faint_text(rows[one]) for one in area if one > number]
    behind.insert(0, _read_behind_cursor(rows[number], at, pane_state.width))
    return TypedInput("\n".join([*before, rows[number].text[:at]]), "\n".join(behind))


def is_text_shown(pane_state: PaneState, text: str) -> bool:
    """Whether the text stands anywhere on the screen."""
    wanted = strip_decoration(text)
    return bool(wanted) and wanted[:COMPARED_END_CHARS] in strip_decoration(
        "\n".join(parse_row(row).text for row in pane_state.rows)
    )


def read_plain_rows(pane_state: PaneState) -> list[str]:
    return [parse_row(row).text for row in pane_state.rows]


def parse_row(row: str) -> InputRow:
    """One captured row, its colours resolved."""
    if not _ESCAPE_SEQUENCE.search(row):
        return InputRow(row, (False,) * len(row))
    text, faint, is_faint, at = "", [], False, 0
    for found in _ESCAPE_SEQUENCE.finditer(row):
        part = row[at : found.start()]
        text, at = text + part, found.end()
        faint += [is_faint] * len(part)
        if found[1] is not None:
            is_faint = _is_faint(found[1], is_faint)
    rest = row[at:]
    return InputRow(text + rest, (*faint, *([is_faint] * len(rest))))


def _is_faint(parameters: str, was: bool) -> bool:
    words = parameters.replace(":", ";").split(";")
    if words[0] in ("38", "48", "58"):
        return _is_grey(words) if words[0] == "38" else was
    for word in words:
        if word in ("", "0", "22", "39"):
            was = False
        elif word in ("2", "90"):
            was = True
    return was


def _is_grey(words: Sequence[str]) -> bool:
    """``38;5;n``: bright black, or the darker part of the grey ramp."""
    return len(words) > 2 and words[1] == "5" and words[2] in _GREY_COLOURS


def _find_cursor(rows: Sequence[InputRow], pane_state: PaneState) -> tuple[int, int] | None:
    """In which joined row the cursor stands, and in which column of it."""
    top = 0
    for number, row in enumerate(rows):
        height = max(1, -(-count_columns(row.text.rstrip()) // max(1, pane_state.width)))
        if pane_state.cursor_y < top + height:
            return number, (pane_state.cursor_y - top) * pane_state.width + pane_state.cursor_x
        top += height
    return None


def _find_column_index(text: str, column: int) -> int:
    """Which character stands in a column."""
    used = 0
    for index, character in enumerate(text):
        if used >= column:
            return index
        used += count_columns(character)
    return len(text)


def _read_behind_cursor(row: InputRow, at: int, width: int) -> str:
    """What stands behind the cursor: not what is faint, and not a prompt's decoration at the right edge."""
    rest = "".join(" " if faint else one for one, faint in zip(row.text[at:], row.faint[at:], strict=True)).rstrip()
    is_at_edge = count_columns(row.text.rstrip()) % max(1, width) in (0, width - 1)
    return "" if rest.startswith("  ") and is_at_edge else rest.strip()


def drop_faint_text(row: InputRow) -> str:
    return "".join(" " if faint else one for one, faint in zip(row.text, row.faint, strict=True)).rstrip()
