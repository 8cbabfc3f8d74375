"""Represent one row of a screen, and join rows to lines where the terminal wrapped them.

A row's cells are a string indexed by column, in which a wide character is followed by a filler. Its length is the
number of columns used since the row was cleared, as in tmux: an erased end remains as blanks.
"""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.terminal.character_width import FILLER, has_zero_width, measure_character, widen_text

LINE_LIMIT = 4096
# A longer line is cut after a blank if one is among so many characters before the limit.
_CUT_SEARCH = 512
# The bytes of one cell in tmux: a character and those combined with it.
_CELL_BYTES = 21
_MAX_ANCHORS = 64
_BLANK_CELLS = f" {FILLER}"

RowAnchor = tuple[int, bool]
"""A mark's offset, and whether its line had no text at the mark."""


class Row(Struct, gc=False):
    """One row of the screen.

    It begins at offset ``start``, after the newline that led to it or with its first character, and ends after the
    newline that left it or its last change. ``end`` is -1 while it is blank and no newline has led to it or left it.
    """

    cells: str = ""
    start: int = 0
    end: int = -1
    at: int = 0
    is_wrapped: bool = False
    """True if the line goes on in the next row."""
    is_ghost: bool = False
    """True if the row is part of a line that is stored already."""
    combined: dict[int, str] | None = None
    """Zero-width characters by column."""
    anchors: tuple[RowAnchor, ...] = ()
    is_text: bool = False
    """True if the cells are still text without fillers; see expand()."""

    def expand(self) -> None:
        """Expand text to cells. Most rows leave the window untouched, so that is not done before it is necessary."""
        if self.is_text:
            self.cells, self.is_text = widen_text(self.cells), False

    @property
    def has_text(self) -> bool:
        return self.combined is not None or bool(self.cells.strip(_BLANK_CELLS))

    def add_anchors(self, anchors: tuple[RowAnchor, ...]) -> None:
        """Add anchors; of too many, as in output that consists only of marks, the last are kept."""
        self.anchors = (*self.anchors, *anchors)[-_MAX_ANCHORS:]

    def combine(self, column: int, character: str) -> bool:
        """Combine a zero-width character with a cell; return False if the cell is full."""
        base = self.cells[column]
        combined = self.combined or {}
        text = combined.get(column, "") + character
        if len((base + text).encode()) > _CELL_BYTES:
            return False
        combined[column] = text
        self.combined = combined
        return True

    def replace_cells(self, start: int, end: int, cells: str) -> None:
        """Replace columns ``start`` to ``end``; a shorter or longer replacement shifts the columns after them."""
        shown = self.cells if len(self.cells) >= start else self.cells.ljust(start)
        self.cells = shown[:start] + cells + shown[end:]
        if self.combined is not None:
            self._shift_combined(start, end, start + len(cells) - end)

    def truncate(self, width: int) -> None:
        """Cut off the columns from ``width`` on."""
        used, self.cells = len(self.cells), self.cells[:width]
        if self.combined is not None and used > width:
            self._shift_combined(width, used, 0)

    def _shift_combined(self, start: int, end: int, shift: int) -> None:
        """Remove zero-width characters in these columns and move those behind them."""
        combined = self.combined or {}
        for column in range(start, end):
            combined.pop(column, None)
        if shift:
            combined = {column if column < end else column + shift: text for column, text in combined.items()}
        self.combined = combined or None


def join_cells(rows: Sequence[Row]) -> str:
    """Return the text of the rows with trailing blanks."""
    text = "".join([row.cells if row.combined is None else _insert_combined(row) for row in rows])
    return text if text.isascii() and FILLER not in text else text.replace(FILLER, "")


def _insert_combined(row: Row) -> str:
    combined = row.combined or {}
    return "".join([character + combined.get(column, "") for column, character in enumerate(row.cells)])


def find_line(rows: Sequence[Row], y: int) -> tuple[int, int]:
    """Return the first and last row of the line that contains row ``y``."""
    first = last = y
    while first > 0 and rows[first - 1].is_wrapped:
        first -= 1
    while last + 1 < len(rows) and rows[last].is_wrapped:
        last += 1
    return first, last


def find_cut(text: str) -> int:
    """Return where to cut a text that is longer than LINE_LIMIT."""
    blank = text.rfind(" ", LINE_LIMIT - _CUT_SEARCH, LINE_LIMIT)
    return LINE_LIMIT if blank < 0 or text[LINE_LIMIT] == " " else blank + 1


def split_text(text: str) -> list[str]:
    """Return the text in pieces of at most LINE_LIMIT characters."""
    pieces = []
    while len(text) > LINE_LIMIT:
        cut = find_cut(text)
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def cut_cells(line: Row, width: int) -> list[Row]:
    """Return the rows that show a line of any length in a screen of this width."""
    cells, rows, start = line.cells, [], 0
    while True:
        stop = start + width
        if cells[stop : stop + 1] == FILLER and width > 1:
            stop -= 1
        is_last = stop >= len(cells)
        part = {at - start: text for at, text in (line.combined or {}).items() if start <= at < stop} or None
        rows.append(Row(cells[start:stop], line.start, line.end, line.at, not is_last, line.is_ghost, part))
        if is_last:
            return rows
        start = stop


def build_line(text: str) -> Row:
    """Return a text as one row of any length."""
    if not has_zero_width(text):
        return Row(widen_text(text))
    line = Row()
    for character in text:
        if measure_character(character):
            line.cells += widen_text(character)
        elif line.cells:
            column = len(line.cells) - 1
            line.combine(column - (line.cells[column] == FILLER), character)
    return line
