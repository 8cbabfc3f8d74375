"""Assemble text and cursor movements into settled lines, each as a terminal would show it.

Keeps one line and no screen: moving to another row settles the line as it is. Invariant: a new line does not depend on
the lines before it, so decoding can resume at its ``start``.

The line is a string indexed by column, in which a wide character is followed by a filler. Until the cursor first leaves
the end of the line, the string is *plain* and has no fillers. Here a zero-width character takes a column.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from unicodedata import east_asian_width

from msgspec import Struct

from termvisor.terminal.overwritten_text import OverwriteTracker, find_remaining_piece
from termvisor.terminal.tokenizer import TerminalToken, count_bytes

LINE_LIMIT = 4096
RAW_LIMIT = 65536
# A progress bar this long is cut where it restarts, so that no row is split.
_OVERWRITE_LIMIT = RAW_LIMIT // 2
# Terminals stop at their right edge, which is not known here.
_MAX_COLUMN = 511
_TAB_WIDTH = 8
_FILLER = "\0"
_REPEATABLE_CONTROLS = (b"\a", b"\b", b"\t", b"\r")
_MAY_BE_WIDE = re.compile("[\u1100-\u115f\u231a-\u23f3\u25fd-\u27bf\u2b1b-\u2b55\u2e80-\uffe6\U00016fe0-\U0003fffd]")
_HARMLESS_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;:?]*+[A-Za-z]|\(B)")


class SettledLine(Struct, frozen=True, gc=False):
    """A line that will no longer change: bytes ``start`` to ``end`` (after its newline), completed at time ``at``."""

    text: str
    start: int
    end: int
    at: int


class LineAssembler:
    """Builder of the current line. Settled lines are appended to ``settled_lines`` with the time ``at``."""

    def __init__(self, start: int):
        self.at = 0
        self.width = 0
        """Columns of the pane; 0 if unknown."""
        self.row_jumps = 0
        """Counts signs of repainting: moves to another row other than newlines, and erased pages."""
        self.settled_lines: list[SettledLine] = []
        self.overwrites = OverwriteTracker()
        self.begin_line(start)

    def begin_line(self, start: int) -> None:
        """Start an empty line at this offset, discarding an unsettled one."""
        self.start = start
        self.overwrites.begin_line()
        self._saved_column: int | None = None
        self._is_row_padded = False
        self._clear_line()

    def _clear_line(self) -> None:
        """Empty the line and move the cursor to its start, as if it were new."""
        self._cells = ""
        self._column: int | None = None
        self._is_moved = False  # the cursor has moved since the last write
        # The width measured at the last tab, so that a line with many tabs is not measured again for each.
        self._measured_length = self._measured_width = 0

    def preset_line(self, text: str, column: int) -> None:
        """Preset the first line with the text that the pane already shows, and the cursor's column."""
        self._cells, self._column = _widen_text(text).ljust(column), column

    @property
    def is_plain(self) -> bool:
        """Return True if the cursor has never left the end of the line."""
        return self._column is None

    @property
    def is_empty(self) -> bool:
        return self._column is None and not self._cells

    @property
    def cursor_column(self) -> int:
        """Return the cursor's column without converting a plain line to columns."""
        return len(_widen_text(self._cells)) if self._column is None else self._column

    @property
    def text(self) -> str:
        return self._cells.replace(_FILLER, "").rstrip(" ")

    def settle_line(self, end: int) -> None:
        self.settled_lines.append(SettledLine(self.text, self.start, end, self.at))
        self.begin_line(end)

    def leave_line(self, end: int) -> None:
        """Settle the line if it has text; called when the cursor moves to another row."""
        if self.text:
            self.settle_line(end)
        self.begin_line(end)

    def limit_length(self, offset: int) -> None:
        """Cut a line at RAW_LIMIT bytes; called before controls and sequences, whose offsets ignore chunks."""
        if offset - self.start >= RAW_LIMIT:
            self.leave_line(offset)

    def skip_bytes(self, start: int, end: int) -> None:
        """Skip bytes that display nothing, cutting the line wherever it reaches RAW_LIMIT."""
        while (last := max(start, self.start + RAW_LIMIT)) < end:
            self.leave_line(last)

    def add_run(self, run: TerminalToken) -> bool:
        """Add a run of whole lines at once; return False if the run must be read token by token."""
        rows = run.data.split(b"\n")
        head = run.start + len(rows[0]) - self.start
        text = self._cells + (_HARMLESS_SEQUENCE.sub("", run.text) if "\x1b" in run.text else run.text)
        if "\t" in text:
            if not text.isascii():
                return False
            text = text.expandtabs(_TAB_WIDTH)
        texts = text.split("\n")
        longest = max(len(max(rows, key=len)), len(max(texts, key=len)))
        if head >= _OVERWRITE_LIMIT or longest > LINE_LIMIT:
            return False
        self._add_rows(texts, rows, head)
        return True

    def _add_rows(self, texts: list[str], rows: list[bytes], head: int) -> None:
        start, at, append = self.start, self.at, self.settled_lines.append
        rest = texts.pop()
        sizes = map(len, rows)
        size = head
        next(sizes)
        for text in texts:
            end = start + size + 1
            append(SettledLine(text.rstrip(" \r"), start, end, at))
            start = end
            size = next(sizes)
        if texts:
            self.begin_line(start)
        self._cells = rest

    def apply_erased(self, erased: TerminalToken) -> bool:
        """Apply text that was written and erased again; return False if a piece of it may be longer than a row."""
        texts = (self._cells + _HARMLESS_SEQUENCE.sub("", erased.text)).split("\r")
        widest = len(max(texts, key=len))
        cells = widest if erased.text.isascii() and self._cells.isascii() else 2 * widest
        longest = max(cells, len(max(erased.data.split(b"\r"), key=len)))
        if cells > (self.width or LINE_LIMIT) or longest > LINE_LIMIT or erased.end - self.start >= _OVERWRITE_LIMIT:
            return False
        self._clear_line()
        return True

    def write(self, token: TerminalToken) -> None:
        """Write characters at the cursor, cutting an endless line before the first character beyond the limit."""
        text, data, start = token.text, token.data, token.start
        if self._is_row_padded:
            self.leave_line(start)
        if start - self.start >= _OVERWRITE_LIMIT and (self._column == 0 or self.is_empty):
            self.leave_line(start)
        while rest := self._put(text):
            size = count_bytes(data, text[: -len(rest)])
            text, data, start = rest, data[size:], start + size
            self.leave_line(start)

    def _put(self, text: str) -> str:
        """Write the text up to LINE_LIMIT and return the rest."""
        if self._column is None:
            room = LINE_LIMIT - len(self._cells)
            self._cells += text[:room]
            return text[room:]
        cells = text if text.isascii() else _widen_text(text)
        if self._column + len(cells) > LINE_LIMIT:
            return self._put_singly(text)
        self._replace_cells(self._column, self._column + len(cells), cells)
        self._column += len(cells)
        self._is_moved = False
        return ""

    def _put_singly(self, text: str) -> str:
        column = self._resolve_cursor()
        for index, character in enumerate(text):
            if column >= LINE_LIMIT:
                self._column = column
                return text[index:]
            cells = _expand_character(character)
            self._replace_cells(column, column + len(cells), cells)
            column += len(cells)
        self._column = column
        self._is_moved = False
        return ""

    def apply_control(self, token: TerminalToken) -> None:
        """Apply a control character, possibly repeated, cutting the line wherever it reaches RAW_LIMIT."""
        byte, start, end = token.data[:1], token.start, token.end
        if byte in _REPEATABLE_CONTROLS and token.data != b"\r\n":
            while (last := max(start, self.start + RAW_LIMIT)) < end:
                self._repeat_control(byte, last - start)
                self.leave_line(last)
                start = last
            self._repeat_control(byte, end - start)
            return
        # A lone newline ends the line anyway, even if its CR came in another token.
        if byte != b"\n":
            self.limit_length(start)
        if token.data.endswith(b"\n"):
            self.settle_line(end)

    def _repeat_control(self, byte: bytes, count: int) -> None:
        if count and byte == b"\r" and not self.is_empty:
            self._is_row_padded = self._is_row_padded or self._is_prompt_padding()
            self._move_cursor(0)
        elif count and byte == b"\b":
            # The first backspace returns from beyond the last column.
            self._move_cursor(self._resolve_cursor() - 1)
            self._move_cursor(self._resolve_cursor() - (count - 1))
        elif count and byte == b"\t":
            self._advance_tabs(count)

    def apply_sequence(self, token: TerminalToken) -> None:
        """Apply a csi or esc token that may move the cursor or erase."""
        key = token.text if token.kind == "csi" else "esc" + token.text
        handler = _SEQUENCE_HANDLERS.get(key)
        if handler is not None and (count := _parse_count(token.data)) is not None:
            if self._is_row_padded:
                self.leave_line(token.start)
            handler(self, count, token.end)

    def _is_prompt_padding(self) -> bool:
        """Return True if the line ends with the blanks that shells print to start their prompt on a new row.

        A carriage return then moves to the start of the next row. The line is kept if anything but a newline follows.
        """
        if not self.width:
            return False
        column = self._resolve_cursor()
        return column > self.width and not self._cells[(column - 1) // self.width * self.width :].strip(" ")

    def _resolve_cursor(self) -> int:
        """Return the cursor's column, converting a plain line to columns."""
        if self._column is None:
            self._cells = self._cells if self._cells.isascii() else _widen_text(self._cells)
            self._column = len(self._cells)
        return self._column

    def _move_cursor(self, column: int) -> None:
        self._resolve_cursor()
        self._is_moved = True
        self._column = max(0, min(column, max(_MAX_COLUMN, len(self._cells))))

    def _advance_tabs(self, count: int) -> None:
        if self._column is None:
            # The line stays plain, as it would in a run.
            width = self._measured_width + len(_widen_text(self._cells[self._measured_length :]))
            stop = width - width % _TAB_WIDTH + _TAB_WIDTH * count
            self._cells = (self._cells + " " * min(stop - width, LINE_LIMIT))[:LINE_LIMIT]
            self._measured_length, self._measured_width = len(self._cells), stop
        else:
            self._is_moved = True
            self._column = min(self._column - self._column % _TAB_WIDTH + _TAB_WIDTH * count, LINE_LIMIT)

    def _replace_cells(self, start: int, end: int, cells: str) -> None:
        """Replace columns. If a wide character loses one half, the other becomes a blank."""
        shown = self._cells
        is_overwrite = start < len(shown) or self._is_moved
        if is_overwrite and (start or end < len(shown)) and (piece := find_remaining_piece(shown, start, end, cells)):
            self.overwrites.record_overwrite(piece, self.start, shown)
        shown = shown.ljust(start)
        left, right = shown[:start], shown[end:]
        if _FILLER in shown:
            if shown[start : start + 1] == _FILLER:
                left = left[:-1] + " "
            if right.startswith(_FILLER):
                right = " " + right[1:]
        self._cells = left + cells + right

    def _jump_to_row(self, _count: int, end: int) -> None:
        self.row_jumps += 1
        self.leave_line(end)

    def _move_forward(self, count: int, _end: int) -> None:
        self._move_cursor(self._resolve_cursor() + max(count, 1))

    def _move_back(self, count: int, _end: int) -> None:
        self._move_cursor(self._resolve_cursor() - max(count, 1))

    def _move_to_column(self, count: int, _end: int) -> None:
        self._move_cursor(max(count, 1) - 1)

    def _erase_line(self, mode: int, _end: int) -> None:
        if mode == 0 and self._column is None:
            return
        column = self._resolve_cursor()
        if mode == 0:
            self._replace_cells(column, max(column, len(self._cells)), "")
        elif mode == 1:
            self._replace_cells(0, column + 1, " " * (column + 1))
        elif mode == 2:
            self._cells = ""
        if column == 0 and not self._cells:
            self._clear_line()

    def _erase_screen(self, mode: int, end: int) -> None:
        """Erase to the end of the line in mode 0 (there is no screen below); in other modes begin a new page."""
        if mode == 0:
            self._erase_line(0, end)
        else:
            self._jump_to_row(mode, end)

    def _erase_cells(self, count: int, _end: int) -> None:
        column = self._resolve_cursor()
        stop = min(column + max(count, 1), len(self._cells))
        if stop > column:
            self._replace_cells(column, stop, " " * (stop - column))

    def _delete_cells(self, count: int, _end: int) -> None:
        column = self._resolve_cursor()
        self._replace_cells(column, column + max(count, 1), "")

    def _insert_blanks(self, count: int, _end: int) -> None:
        column = self._resolve_cursor()
        self._replace_cells(column, column, " " * min(max(count, 1), LINE_LIMIT))
        self._cells = self._cells[:LINE_LIMIT]

    def _save_cursor(self, _count: int, _end: int) -> None:
        self._saved_column = self._resolve_cursor()

    def _restore_cursor(self, _count: int, end: int) -> None:
        """Move to the column saved in this line. If there is none, the saved position is in another row."""
        if self._saved_column is None:
            self.leave_line(end)
        else:
            self._move_cursor(self._saved_column)


_SequenceHandler = Callable[[LineAssembler, int, int], None]
_SEQUENCE_HANDLERS: dict[str, _SequenceHandler] = dict.fromkeys(
    (*"ABEFHfdeLMSTr", "escD", "escE", "escM"), LineAssembler._jump_to_row
) | {
    "C": LineAssembler._move_forward,
    "a": LineAssembler._move_forward,
    "D": LineAssembler._move_back,
    "G": LineAssembler._move_to_column,
    "`": LineAssembler._move_to_column,
    "K": LineAssembler._erase_line,
    "J": LineAssembler._erase_screen,
    "X": LineAssembler._erase_cells,
    "P": LineAssembler._delete_cells,
    "@": LineAssembler._insert_blanks,
    "s": LineAssembler._save_cursor,
    "u": LineAssembler._restore_cursor,
    "esc7": LineAssembler._save_cursor,
    "esc8": LineAssembler._restore_cursor,
}


def _parse_count(parameters: bytes) -> int | None:
    """Return the first parameter: 0 if omitted, None if it is not a plain number (private forms, intermediates)."""
    first = parameters.partition(b";")[0]
    if not first:
        return 0
    return int(first[:6]) if first.isdigit() else None


def _widen_text(text: str) -> str:
    return "".join(map(_expand_character, text)) if _MAY_BE_WIDE.search(text) else text


@lru_cache(maxsize=1024)
def _expand_character(character: str) -> str:
    is_wide = _MAY_BE_WIDE.match(character) and east_asian_width(character) in "WF"
    return character + _FILLER if is_wide else character
