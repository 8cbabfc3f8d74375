"""Read the text typed into a program's input from its screen, and compare it with an expected text. Pure.

Rows are captured with wrapped lines joined and with colours. White space, frames and prompt characters are removed from
both sides before a comparison: programs wrap, indent and decorate their input.
"""

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from termvisor.backends.pane_control import PaneState
from termvisor.terminal.input_area import count_columns, find_input_rows, locate_cursor

# Compare this many characters at each end of a long text, because programs fold or scroll the middle.
COMPARED_END_CHARS = 24
_LONG_TEXT_CHARS = 200
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])|[\x0e\x0f]")
# Colours in which programs draw placeholders and suggestions: bright black, the dark part of the grey ramp, and 24-bit
# colours with equal parts between the text colours of dark and of light themes.
_GREY_COLOURS = frozenset(["8", *map(str, range(235, 247))])
_GREY_PARTS, _MAX_TINT = range(90, 151), 12
_IGNORED_CHARACTERS = re.compile(r"[\s│┃║|▌▐▏▕╭╮╰╯┌┐└┘─━═>❯›»$%#…]+")
_GUARD_CHARACTERS = re.compile(r"[A-Za-z0-9 .❯›●→]+")
# The signs that end the prompts of shells, and a sign with text behind it.
_PROMPT_END = re.compile(r"[$#%>❯›»λ➜➤✗]\s*\Z")
_TEXT_AFTER_PROMPT = re.compile(r"[$#%❯] +\S")
_WORD_RUN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")


class InputRow(Struct, frozen=True):
    """The plain text of a row, with a mark for each faint character (placeholders, suggestions)."""

    text: str
    faint: tuple[bool, ...]


class TypedInput(Struct, frozen=True):
    """The input before the cursor, and the part behind it that is not faint."""

    before: str
    behind: str


def strip_decoration(text: str) -> str:
    return _IGNORED_CHARACTERS.sub("", text)


def is_same_text(shown: str, text: str) -> bool:
    """Return True if the ``shown`` input is exactly ``text``. Compares only the two ends of a long text."""
    actual, expected = strip_decoration(shown), strip_decoration(text)
    if not expected:
        return False
    if not _is_long(text):
        return actual == expected
    return actual.startswith(expected[:COMPARED_END_CHARS]) and actual.endswith(expected[-COMPARED_END_CHARS:])


def _is_long(text: str) -> bool:
    return "\n" in text or len(strip_decoration(text)) > _LONG_TEXT_CHARS


def find_guard_piece(text: str, width: int) -> str:
    """Return a part of the text that a guard can search for in a single screen row; empty if there is none.

    It is at most a quarter of a row, so that it rarely wraps. Of a long text, only the ends are certain
    to be on the screen.
    """
    max_chars = max(8, width // 4)
    shown = f"{text[:COMPARED_END_CHARS]}\n{text[-COMPARED_END_CHARS:]}" if _is_long(text) else text
    parts = _WORD_RUN.findall(shown.replace("\n", "\0"))
    return max((part[:max_chars].strip() for part in parts), key=len, default="")


def find_guard_pieces(rows: Sequence[str], width: int) -> tuple[str, ...]:
    """Return a searchable part of each row of a dialog, including the pointer that marks the selected choice."""
    max_chars = max(8, width // 2)
    pieces = (max(_GUARD_CHARACTERS.findall(row), key=len, default="").strip()[:max_chars].strip() for row in rows)
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def read_prompt_input(pane_state: PaneState, column: int, lines: int = 1) -> TypedInput | None:
    """Return a shell's input of ``lines`` lines, from ``column`` of its first joined row to the cursor.

    Returns None if the cursor is elsewhere, or if the start has scrolled off the screen.
    """
    rows = [parse_row(row) for row in pane_state.rows]
    position = _find_cursor(rows, pane_state)
    if position is None:
        return None
    number, cursor = position
    first, at = number - lines + 1, _find_column_index(rows[number].text, cursor)
    if first < 0 or (lines == 1 and cursor < column):
        return None
    above = "".join(f"{row.text}\n" for row in rows[first:number])
    before = above + rows[number].text[:at]
    return TypedInput(
        before[_find_column_index(before, column) :], _read_behind_cursor(rows[number], at, pane_state.width)
    )


def read_program_input(pane_state: PaneState) -> TypedInput | None:
    """Return the input of an unknown program, read from the cursor's row and the box around it."""
    rows = [parse_row(row) for row in pane_state.rows]
    position = _find_cursor(rows, pane_state)
    if position is None:
        return None
    number, column = position
    area = find_input_rows([row.text for row in rows], number)
    at = _find_column_index(rows[number].text, column)
    before = [drop_faint_text(rows[index]) for index in area if index < number]
    behind = [drop_faint_text(rows[index]) for index in area if index > number]
    behind.insert(0, _read_behind_cursor(rows[number], at, pane_state.width))
    return TypedInput("\n".join([*before, rows[number].text[:at]]), "\n".join(behind))


def find_cursor_column(pane_state: PaneState) -> int | None:
    """Return the cursor's column in its joined row; None if the cursor is below the captured rows."""
    position = _find_cursor([parse_row(row) for row in pane_state.rows], pane_state)
    return None if position is None else position[1]


def is_at_empty_prompt(pane_state: PaneState) -> bool:
    """Return True if the row of the cursor ends there with the sign of a prompt, as far as that can be seen."""
    row = read_prompt_input(pane_state, 0)
    if row is None or row.behind:
        return False
    return bool(_PROMPT_END.search(row.before)) and not _TEXT_AFTER_PROMPT.search(row.before)


def is_text_shown(pane_state: PaneState, text: str) -> bool:
    """Return True if the beginning of the text appears anywhere on the screen."""
    return has_text_start("\n".join(read_plain_rows(pane_state)), text)


def has_text_start(shown: str, text: str) -> bool:
    """Return True if what is shown contains the beginning of the text."""
    start = find_shown_start(text)
    return bool(start) and start in strip_decoration(shown)


def find_shown_start(text: str) -> str:
    """Return the beginning of the text, as it is looked for on a screen."""
    return strip_decoration(text)[:COMPARED_END_CHARS]


def read_plain_rows(pane_state: PaneState) -> list[str]:
    return [parse_row(row).text for row in pane_state.rows]


def parse_row(row: str) -> InputRow:
    """Parse the escape sequences of one captured row."""
    if not _ESCAPE_SEQUENCE.search(row):
        return InputRow(row, (False,) * len(row))
    text, faint, is_faint, at = "", [], False, 0
    for match in _ESCAPE_SEQUENCE.finditer(row):
        part = row[at : match.start()]
        text, at = text + part, match.end()
        faint += [is_faint] * len(part)
        if match[1] is not None:
            is_faint = _is_faint(match[1], is_faint)
    rest = row[at:]
    return InputRow(text + rest, (*faint, *([is_faint] * len(rest))))


def find_highlights(rows: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Return row number and text of each part whose background differs from the same one on both of its sides.

    Where several parts of a row share one background and a single part has another, only that one is highlighted:
    the others are buttons.
    """
    found = []
    for number, row in enumerate(rows):
        parts = _split_backgrounds(row)
        own = [
            (background, text.strip())
            for (left, _), (background, text), (right, _) in zip(parts, parts[1:], parts[2:], strict=False)
            if left == right != background and text.strip()
        ]
        counts = Counter(background for background, _ in own)
        single = [text for background, text in own if counts[background] == 1]
        shown = single if len(counts) == 2 and len(single) == 1 else [text for _, text in own]
        found += [(number, text) for text in shown]
    return tuple(found)


def _split_backgrounds(row: str) -> list[tuple[str, str]]:
    """Return background and text of the parts of a row. A colour that the row before left on is ``inherited``."""
    parts, at, background = [("inherited", "")], 0, "inherited"
    for match in (*_ESCAPE_SEQUENCE.finditer(row), None):
        text = row[at : match.start()] if match else row[at:]
        if text and background == parts[-1][0]:
            parts[-1] = (background, parts[-1][1] + text)
        elif text:
            parts.append((background, text))
        if match is not None:
            at, background = match.end(), _read_background(match[1], background)
    return [part for part in parts if part[1]]


def _read_background(parameters: str | None, background: str) -> str:
    """Return the background after an SGR sequence; None stands for another escape sequence."""
    codes = iter((parameters or "").replace(":", ";").split(";")) if parameters is not None else iter(())
    for code in codes:
        if code in ("38", "48", "58"):  # an extended colour: ``5;n`` or ``2;r;g;b``
            colour = ";".join(next(codes, "") for _ in range(1 if next(codes, "") == "5" else 3))
            background = colour if code == "48" else background
        elif code in ("", "0", "49") or re.fullmatch(r"4[0-7]|10[0-7]", code):
            background = code.strip("0") or "49"
    return background


def _is_faint(parameters: str, is_faint: bool) -> bool:
    """Return True if text after an SGR sequence with these parameters is faint."""
    codes = parameters.replace(":", ";").split(";")
    # The numbers that follow specify a colour and are not attributes themselves.
    if codes[0] in ("38", "48", "58"):  # an extended colour: foreground, background, underline
        return _is_grey(codes) if codes[0] == "38" else is_faint
    for code in codes:
        if code in ("", "0", "22", "39"):
            is_faint = False
        elif code in ("2", "90"):
            is_faint = True
    return is_faint


def _is_grey(codes: Sequence[str]) -> bool:
    """Return True if the codes are ``38;5;n`` or ``38;2;r;g;b`` with a grey colour."""
    parts = [int(code) for code in codes[2:5] if code.isdecimal()]
    if codes[1:2] == ["2"] and len(parts) == 3:
        return all(part in _GREY_PARTS for part in parts) and max(parts) - min(parts) <= _MAX_TINT
    return len(codes) > 2 and codes[1] == "5" and codes[2] in _GREY_COLOURS


def _find_cursor(rows: Sequence[InputRow], pane_state: PaneState) -> tuple[int, int] | None:
    """Return the index of the joined row that holds the cursor, and the cursor's column in it."""
    size = (pane_state.width, pane_state.height)
    return locate_cursor([row.text for row in rows], size, pane_state.cursor_x, pane_state.cursor_y)


def _find_column_index(text: str, column: int) -> int:
    """Return the index of the character displayed in this column."""
    used = 0
    for index, character in enumerate(text):
        if used >= column:
            return index
        used += count_columns(character)
    return len(text)


def _read_behind_cursor(row: InputRow, at: int, width: int) -> str:
    """Return the text after the cursor, without faint characters and prompt decoration at the right edge."""
    rest = drop_faint_text(InputRow(row.text[at:], row.faint[at:]))
    # A prompt may show a clock or a branch name at the right edge, which is not input.
    is_at_edge = count_columns(row.text.rstrip()) % max(1, width) in (0, width - 1)
    return "" if rest.startswith("  ") and is_at_edge else rest.strip()


def drop_faint_text(row: InputRow) -> str:
    return "".join(" " if faint else char for char, faint in zip(row.text, row.faint, strict=True)).rstrip()
