"""Text and cursor movements become settled lines, each as a terminal would show it.

One line at a time, no screen: a movement to another row settles the line as it is. Invariant: when a line begins
nothing of the lines before it matters, so reading can be taken up again at ``start``.

A line is held as a string whose index is the column: a wide character is followed by a filler. As long as the cursor
has never left the line's end the string is *plain* and needs no fillers. A character of no width takes a column here.
"""

from collections.abc import Callable
from functools import lru_cache
from re import compile as pattern
from unicodedata import east_asian_width

from msgspec import Struct

from termvisor.terminal.overwritten_text import Covering, left_of
from termvisor.terminal.tokenizer import Token, size_of

LINE_LIMIT = 4096
RAW_LIMIT = 65536
_OVERWRITE_LIMIT = RAW_LIMIT // 2  # a progress bar this long is cut where it begins anew, so that no row is torn
_FARTHEST = 511  # terminals stop at their right edge, which we do not know
_TAB = 8
_FILLER = "\0"
_REPEATED = (b"\a", b"\b", b"\t", b"\r")
_MAY_BE_WIDE = pattern("[\u1100-\u115f\u231a-\u23f3\u25fd-\u27bf\u2b1b-\u2b55\u2e80-\uffe6\U00016fe0-\U0003fffd]")
_HARMLESS = pattern(r"\x1b(?:\[[0-9;:?]*+[A-Za-z]|\(B)")


class Settled(Struct, frozen=True, gc=False):
    """A line that will not change: from its first byte to just after its newline, completed by what was read ``at``."""

    text: str
    start: int
    end: int
    at: int


class LineAssembly:
    """Builds the current line; whatever settles is appended to ``settled`` with the time ``at``."""

    def __init__(self, start: int):
        self.at = 0
        self.width = 0
        """Columns of the pane; 0 where they are not known."""
        self.leaps = 0
        """How often the cursor went to another row otherwise than by a newline, or a page was erased."""
        self.settled: list[Settled] = []
        self.covering = Covering()
        self.begin(start)

    def begin(self, start: int) -> None:
        """An empty line that starts here; what was not settled is forgotten."""
        self.start = start
        self.covering.begin()
        self._saved: int | None = None
        self._padded = False
        self._empty()

    def _empty(self) -> None:
        """Nothing stands in the line and the cursor is at its start: as if it were new."""
        self._shown = ""
        self._column: int | None = None
        self._is_moved = False  # since something was written: what comes does not just go on
        self._tabbed = self._tabbed_width = 0  # how much was measured at the last tab, so that tabs stay cheap

    def preset(self, text: str, column: int) -> None:
        """The line begins with what the pane showed in it already; the cursor stands in this column."""
        self._shown, self._column = _widened(text).ljust(column), column

    @property
    def is_plain(self) -> bool:
        """The cursor has never left the end of the line."""
        return self._column is None

    @property
    def is_empty(self) -> bool:
        return self._column is None and not self._shown

    @property
    def column(self) -> int:
        """Where the cursor stands, without making the line one that has columns."""
        return len(_widened(self._shown)) if self._column is None else self._column

    @property
    def text(self) -> str:
        return self._shown.replace(_FILLER, "").rstrip(" ")

    def settle(self, end: int) -> None:
        self.settled.append(Settled(self.text, self.start, end, self.at))
        self.begin(end)

    def leave(self, end: int) -> None:
        """The program goes elsewhere: what stands here is settled, if anything does."""
        if self.text:
            self.settle(end)
        self.begin(end)

    def bound(self, offset: int) -> None:
        """Asked before every control and sequence, whose places do not depend on the chunks."""
        if offset - self.start >= RAW_LIMIT:
            self.leave(offset)

    def pass_over(self, start: int, end: int) -> None:
        """Bytes that show nothing, any of which may be the last that the line can hold."""
        while (last := max(start, self.start + RAW_LIMIT)) < end:
            self.leave(last)

    def add(self, run: Token) -> bool:
        """Take whole lines at once. False: this run needs to be read token by token."""
        rows = run.data.split(b"\n")
        head = run.start + len(rows[0]) - self.start
        text = self._shown + (_HARMLESS.sub("", run.text) if "\x1b" in run.text else run.text)
        if "\t" in text:
            if not text.isascii():
                return False
            text = text.expandtabs(_TAB)
        texts = text.split("\n")
        longest = max(len(max(rows, key=len)), len(max(texts, key=len)))
        if head >= _OVERWRITE_LIMIT or longest > LINE_LIMIT:
            return False
        self._add_rows(texts, rows, head)
        return True

    def _add_rows(self, texts: list[str], rows: list[bytes], head: int) -> None:
        start, at, append = self.start, self.at, self.settled.append
        rest = texts.pop()
        sizes = map(len, rows)
        size = head
        next(sizes)
        for text in texts:
            end = start + size + 1
            append(Settled(text.rstrip(" \r"), start, end, at))
            start = end
            size = next(sizes)
        if texts:
            self.begin(start)
        self._shown = rest

    def start_over(self, erased: Token) -> bool:
        """Texts that were each written and erased again. False: one of them may have been more than a row."""
        texts = (self._shown + _HARMLESS.sub("", erased.text)).split("\r")
        widest = len(max(texts, key=len))
        cells = widest if erased.text.isascii() and self._shown.isascii() else 2 * widest
        longest = max(cells, len(max(erased.data.split(b"\r"), key=len)))
        if cells > (self.width or LINE_LIMIT) or longest > LINE_LIMIT or erased.end - self.start >= _OVERWRITE_LIMIT:
            return False
        self._empty()
        return True

    def write(self, token: Token) -> None:
        """Characters at the cursor. An endless line is cut before the first character beyond the limit."""
        text, data, start = token.text, token.data, token.start
        if self._padded:
            self.leave(start)
        if start - self.start >= _OVERWRITE_LIMIT and (self._column == 0 or self.is_empty):
            self.leave(start)
        while rest := self._put(text):
            size = size_of(data, text[: -len(rest)])
            text, data, start = rest, data[size:], start + size
            self.leave(start)

    def _put(self, text: str) -> str:
        """Write what fits; return what does not."""
        if self._column is None:
            room = LINE_LIMIT - len(self._shown)
            self._shown += text[:room]
            return text[room:]
        cells = text if text.isascii() else _widened(text)
        if self._column + len(cells) > LINE_LIMIT:
            return self._put_singly(text)
        self._replace(self._column, self._column + len(cells), cells)
        self._column += len(cells)
        self._is_moved = False
        return ""

    def _put_singly(self, text: str) -> str:
        column = self._cursor()
        for index, character in enumerate(text):
            if column >= LINE_LIMIT:
                self._column = column
                return text[index:]
            cells = _cells(character)
            self._replace(column, column + len(cells), cells)
            column += len(cells)
        self._column = column
        self._is_moved = False
        return ""

    def control(self, token: Token) -> None:
        """A control character, or one that is repeated; before each of them the line may have become too long."""
        byte, start, end = token.data[:1], token.start, token.end
        if byte in _REPEATED and token.data != b"\r\n":
            while (last := max(start, self.start + RAW_LIMIT)) < end:
                self._repeat(byte, last - start)
                self.leave(last)
                start = last
            self._repeat(byte, end - start)
            return
        if byte != b"\n":  # a lone newline ends the line anyway, and must do so where its CR came alone before it
            self.bound(start)
        if token.data.endswith(b"\n"):
            self.settle(end)

    def _repeat(self, byte: bytes, count: int) -> None:
        if count and byte == b"\r" and not self.is_empty:
            self._padded = self._padded or self._is_padded()
            self._move(0)
        elif count and byte == b"\b":
            self._move(self._cursor() - 1)  # first from beyond the farthest column to it
            self._move(self._cursor() - (count - 1))
        elif count and byte == b"\t":
            self._tab(count)

    def sequence(self, token: Token) -> None:
        """A csi or esc token that may move the cursor or erase."""
        key = token.text if token.kind == "csi" else "esc" + token.text
        act = _ACTS.get(key)
        if act is not None and (count := _count(token.data)) is not None:
            if self._padded:
                self.leave(token.start)
            act(self, count, token.end)

    def _is_padded(self) -> bool:
        """Whether only blanks were printed since the row's end: so shells make sure that a prompt has its own row.

        A carriage return then goes to the start of the next row; the line stays if anything but a newline follows.
        """
        if not self.width:
            return False
        column = self._cursor()
        return column > self.width and not self._shown[(column - 1) // self.width * self.width :].strip(" ")

    def _cursor(self) -> int:
        """The column of the cursor; asking makes the line one that has columns."""
        if self._column is None:
            self._shown = self._shown if self._shown.isascii() else _widened(self._shown)
            self._column = len(self._shown)
        return self._column

    def _move(self, column: int) -> None:
        self._cursor()
        self._is_moved = True
        self._column = max(0, min(column, max(_FARTHEST, len(self._shown))))

    def _tab(self, count: int) -> None:
        if self._column is None:
            # stays plain, as the same line would in a run
            width = self._tabbed_width + len(_widened(self._shown[self._tabbed :]))
            stop = width - width % _TAB + _TAB * count
            self._shown = (self._shown + " " * min(stop - width, LINE_LIMIT))[:LINE_LIMIT]
            self._tabbed, self._tabbed_width = len(self._shown), stop
        else:
            self._is_moved = True
            self._column = min(self._column - self._column % _TAB + _TAB * count, LINE_LIMIT)

    def _replace(self, start: int, end: int, cells: str) -> None:
        """Half of a wide character that loses its other half becomes a blank."""
        shown = self._shown
        is_over = start < len(shown) or self._is_moved
        if is_over and (start or end < len(shown)) and (piece := left_of(shown, start, end, cells)):
            self.covering.cut(piece, self.start, shown)
        shown = shown.ljust(start)
        left, right = shown[:start], shown[end:]
        if _FILLER in shown:
            if shown[start : start + 1] == _FILLER:
                left = left[:-1] + " "
            if right.startswith(_FILLER):
                right = " " + right[1:]
        self._shown = left + cells + right

    def _elsewhere(self, _count: int, end: int) -> None:
        self.leaps += 1
        self.leave(end)

    def _forward(self, count: int, _end: int) -> None:
        self._move(self._cursor() + max(count, 1))

    def _back(self, count: int, _end: int) -> None:
        self._move(self._cursor() - max(count, 1))

    def _to_column(self, count: int, _end: int) -> None:
        self._move(max(count, 1) - 1)

    def _erase_line(self, how: int, _end: int) -> None:
        if how == 0 and self._column is None:
            return
        column = self._cursor()
        if how == 0:
            self._replace(column, max(column, len(self._shown)), "")
        elif how == 1:
            self._replace(0, column + 1, " " * (column + 1))
        elif how == 2:
            self._shown = ""
        if column == 0 and not self._shown:
            self._empty()

    def _erase_screen(self, how: int, end: int) -> None:
        """To the end of the screen: of that we have the end of this line. Otherwise a new page begins."""
        if how == 0:
            self._erase_line(0, end)
        else:
            self._elsewhere(how, end)

    def _erase(self, count: int, _end: int) -> None:
        column = self._cursor()
        stop = min(column + max(count, 1), len(self._shown))
        if stop > column:
            self._replace(column, stop, " " * (stop - column))

    def _delete(self, count: int, _end: int) -> None:
        column = self._cursor()
        self._replace(column, column + max(count, 1), "")

    def _insert(self, count: int, _end: int) -> None:
        column = self._cursor()
        self._replace(column, column, " " * min(max(count, 1), LINE_LIMIT))
        self._shown = self._shown[:LINE_LIMIT]

    def _save(self, _count: int, _end: int) -> None:
        self._saved = self._cursor()

    def _restore(self, _count: int, end: int) -> None:
        """To a place in this line, or to one that we did not see."""
        if self._saved is None:
            self.leave(end)
        else:
            self._move(self._saved)


_Act = Callable[[LineAssembly, int, int], None]
_ACTS: dict[str, _Act] = dict.fromkeys((*"ABEFHfdeLMSTr", "escD", "escE", "escM"), LineAssembly._elsewhere) | {
    "C": LineAssembly._forward,
    "a": LineAssembly._forward,
    "D": LineAssembly._back,
    "G": LineAssembly._to_column,
    "`": LineAssembly._to_column,
    "K": LineAssembly._erase_line,
    "J": LineAssembly._erase_screen,
    "X": LineAssembly._erase,
    "P": LineAssembly._delete,
    "@": LineAssembly._insert,
    "s": LineAssembly._save,
    "u": LineAssembly._restore,
    "esc7": LineAssembly._save,
    "esc8": LineAssembly._restore,
}


def _count(parameters: bytes) -> int | None:
    """The first parameter, 0 if it was left out, None if these are not plain numbers (private forms, intermediates)."""
    first = parameters.partition(b";")[0]
    if not first:
        return 0
    return int(first[:6]) if first.isdigit() else None


def _widened(text: str) -> str:
    return "".join(map(_cells, text)) if _MAY_BE_WIDE.search(text) else text


@lru_cache(maxsize=1024)
def _cells(character: str) -> str:
    is_wide = _MAY_BE_WIDE.match(character) and east_asian_width(character) in "WF"
    return character + _FILLER if is_wide else character
