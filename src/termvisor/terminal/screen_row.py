"""Represent one row of a screen, measure its characters, and join rows to lines where the terminal wrapped them. Pure.

A row's cells are a string indexed by column, in which a wide character is followed by FILLER. A zero-width character
has no cell; it is combined with the cell before it. Widths are those of tmux with glibc. A row's length is the number
of columns used since the row was cleared, as in tmux: an erased end remains as blanks.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import category

from msgspec import Struct

FILLER = "\0"
INVALID = "\udcff"
"""Stands for bytes that are not UTF-8: a zero-width character that no valid text contains."""
# The ranges of wide characters; code points that are not assigned yet are counted in.
_WIDE = (
    "\u1100-\u115f\u231a-\u231b\u2329-\u232a\u23e9-\u23ec\u23f0\u23f3\u25fd-\u25fe\u2614-\u2615\u2648-\u2653\u267f"
    "\u2693\u26a1\u26aa-\u26ab\u26bd-\u26be\u26c4-\u26c5\u26ce\u26d4\u26ea\u26f2-\u26f3\u26f5\u26fa\u26fd\u2705"
    "\u270a-\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b-\u2b1c\u2b50\u2b55"
    "\u2e80-\u3029\u302e-\u303e\u3041-\u3098\u309b-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufad9\ufe10-\ufe19"
    "\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6"
)
_WIDE_BEYOND_BMP = (
    "\U00016fe0-\U00016fe3\U00016ff0-\U00018d08\U0001aff0-\U0001b2fb\U0001f004\U0001f0cf\U0001f18e"
    "\U0001f191-\U0001f19a\U0001f200-\U0001f320\U0001f32d-\U0001f335\U0001f337-\U0001f37c\U0001f37e-\U0001f393"
    "\U0001f3a0-\U0001f3ca\U0001f3cf-\U0001f3d3\U0001f3e0-\U0001f3f0\U0001f3f4\U0001f3f8-\U0001f43e\U0001f440"
    "\U0001f442-\U0001f4fc\U0001f4ff-\U0001f53d\U0001f54b-\U0001f54e\U0001f550-\U0001f567\U0001f57a"
    "\U0001f595-\U0001f596\U0001f5a4\U0001f5fb-\U0001f64f\U0001f680-\U0001f6c5\U0001f6cc\U0001f6d0-\U0001f6d2"
    "\U0001f6d5-\U0001f6df\U0001f6eb-\U0001f6ec\U0001f6f4-\U0001f6fc\U0001f7e0-\U0001f7f0\U0001f90c-\U0001f93a"
    "\U0001f93c-\U0001f945\U0001f947-\U0001f9ff\U0001fa70-\U0001faf6\U00020000-\U0003134a"
)
# Blocks that contain zero-width characters, and INVALID.
_MAYBE_ZERO = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u109f\u1160-\u11ff\u135d-\u135f\u1712-\u18a9\u1920-\u193b"
    "\u1a17-\u1cff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff"
    "\u302a-\u302d\u3099-\u309a\ua66f-\ua6f1\ua802-\ua953\ua980-\uabed\ud7b0-\ud7ff\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f"
    "\ufeff\ufff9-\ufffb\udcff"
)
# Each range beyond the BMP costs time for every character that is not in the class, so there are few.
_BEYOND_BMP = "\U00010000-\U0010ffff"
_MAYBE_ZERO_BEYOND_BMP = "\U000101fd-\U0001e94a\U000e0001-\U000e01ef"
# Medial vowels and final consonants of Hangul, which join the syllable before them.
_HANGUL_JOINING = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
# glibc gives these format characters a column: the soft hyphen and the number signs of Arabic and Syriac.
_VISIBLE_FORMAT_CHARACTERS = frozenset(
    "\u00ad\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
_WIDE_RUN = re.compile(f"[{_WIDE}]+|(?=[{_BEYOND_BMP}])[{_WIDE_BEYOND_BMP}]+")
_MAYBE_ZERO_CHARACTER = re.compile(f"[{_MAYBE_ZERO}{_MAYBE_ZERO_BEYOND_BMP}]")
_UNUSUAL = re.compile(f"[{_WIDE}{_MAYBE_ZERO}{_BEYOND_BMP}]")


def is_all_narrow(text: str) -> bool:
    """Return True if every character of the text takes exactly one column."""
    return text.isascii() or _UNUSUAL.search(text) is None


def has_zero_width(text: str) -> bool:
    if _MAYBE_ZERO_CHARACTER.search(text) is None:
        return False
    return any(not measure_character(match[0]) for match in _MAYBE_ZERO_CHARACTER.finditer(text))


def widen_text(text: str) -> str:
    """Return the cells of a text without zero-width characters."""
    return text if text.isascii() else _WIDE_RUN.sub(_fill_wide_run, text)


def _fill_wide_run(match: re.Match[str]) -> str:
    return FILLER.join(match[0]) + FILLER


@lru_cache(maxsize=1024)
def measure_character(character: str) -> int:
    """Return the number of columns: 0, 1 or 2."""
    if _WIDE_RUN.match(character):
        return 2
    if character == INVALID or _HANGUL_JOINING.match(character):
        return 0
    is_mark = category(character) in ("Mn", "Me", "Cf") and character not in _VISIBLE_FORMAT_CHARACTERS
    return 0 if is_mark else 1


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
