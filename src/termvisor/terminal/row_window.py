"""Keep the rows of a pane's screen as tmux does. A row that leaves the window becomes part of a settled line.

A line is a sequence of rows joined where the terminal wrapped them. A line of more than LINE_LIMIT (4,096) characters
is cut, after a blank if one is among the 512 characters before the limit. Invariant: texts, offsets and times depend
only on the bytes, not on the chunks that they came in.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL: four megabytes
from collections.abc import Sequence

from msgspec import Struct

from termvisor.terminal.overwritten_text import OverwriteTracker, find_remaining_piece
from termvisor.terminal.screen_row import FILLER, LINE_LIMIT, Row, RowAnchor, find_cut, find_line, join_cells

# Cells of the rows above and below that decide whether a word is cut.
_NEIGHBOR_CELLS = 9
# More rows than any pane has.
_MAX_SCROLLED = 1000


class SettledLine(Struct, frozen=True, gc=False):
    """A line that will no longer change: rows joined where the terminal wrapped them.

    ``start`` is the offset where it began, ``end`` the offset just after the last byte that changed or left it, and
    ``at`` the time of that byte. ``end`` need not rise from line to line.
    """

    text: str
    start: int
    end: int
    at: int


class ProvisionalLine(Struct, frozen=True, gc=False):
    """A line in the window, which may still change; fields as in SettledLine."""

    text: str
    start: int
    end: int
    at: int
    has_cursor: bool


class LineAnchor(Struct, frozen=True, gc=False):
    """The first line without text from before a mark: ``mark`` is the mark's offset, ``line`` counts from 0."""

    mark: int
    line: int


class LineHead(Struct, gc=False):
    """The beginning of a line whose first rows have left the window; fields as in Row."""

    text: str
    columns: int
    start: int
    end: int
    at: int
    is_ghost: bool
    anchors: tuple[RowAnchor, ...]


class FrozenScreen(Struct, gc=False):
    """The main screen while the alternate one is shown, which keeps rows of its own only if ``is_followed``."""

    rows: list[Row]
    x: int
    y: int
    width: int
    height: int
    is_followed: bool = False


class RowWindow:
    """The rows of the screen and the cursor. Settled lines and final anchors are appended to the output lists."""

    __slots__ = (
        "alternate_saved", "at", "autowrap", "bottom", "final_anchors", "frozen", "head", "height", "history",
        "is_insert", "is_moved", "is_origin", "joins_next", "low", "offset", "overwrites", "page", "row_jumps", "rows",
        "saved", "scrolled", "settled_count", "settled_lines", "tabs", "top", "width", "x", "y",
    )  # fmt: skip

    def __init__(self, width: int, height: int, offset: int):
        self.width, self.height = max(width, 1), max(height, 1)
        # The offset after the sequence that is being applied, and the time of its delta.
        self.offset, self.at = offset, 0
        # A column of ``width`` means that the next character wraps.
        self.x = self.y = 0
        # No row below this one has text or marks.
        self.low = 0
        self.saved = (0, 0, False)
        self.alternate_saved: tuple[int, int] | None = None
        self.head: LineHead | None = None
        self.frozen: FrozenScreen | None = None
        self.settled_count = self.row_jumps = 0
        # Rows that left the window since the last clear and at all, as far as a resized pane could get them back.
        self.scrolled = self.history = 0
        # A digest of the last cleared screen, and the number of settled lines then.
        self.page = (b"", -1)
        # Whether the cursor has moved since the last write, and whether a joiner waits for the next character.
        self.is_moved = self.joins_next = False
        self.settled_lines: list[SettledLine] = []
        self.final_anchors: list[LineAnchor] = []
        self.overwrites = OverwriteTracker()
        self.reset_modes()
        self.rows = self.build_blank_rows(self.height)
        # The first row begins with the epoch.
        self.rows[0].end = offset

    def reset_modes(self) -> None:
        self.top, self.bottom = 0, self.height - 1
        self.autowrap, self.is_insert, self.is_origin = True, False, False
        # Tab stops; None for every eighth column.
        self.tabs: list[int] | None = None

    def build_blank_rows(self, count: int) -> list[Row]:
        return [Row("", self.offset, -1, self.at) for _ in range(count)]

    @property
    def is_plain(self) -> bool:
        """Return True if the cursor is at the end of the text, where nothing but new text can change the window."""
        y, row = self.y, self.rows[self.y]
        row.expand()
        return (
            self.x == len(row.cells)
            and self.bottom - self.top + 1 == self.height
            and self.autowrap
            and not (self.is_insert or row.is_ghost or self.joins_next or self.tabs is not None)
            and not (self.is_moved and row.cells)
            and (y >= self.low or self._find_low(y) <= y)
        )

    @property
    def is_row_fresh(self) -> bool:
        """Return True if the cursor is at the start of a blank row that is a line of its own."""
        y, row = self.y, self.rows[self.y]
        is_continued = self.rows[y - 1].is_wrapped if y else self.head is not None
        is_usual = self.autowrap and not (self.is_insert or self.joins_next)
        return self.x == 0 and not (row.cells or row.is_wrapped or row.is_ghost or is_continued) and is_usual

    def _find_low(self, y: int) -> int:
        """Lower ``low`` to the last row with text or marks, but not below row ``y``."""
        while self.low > y and (row := self.rows[self.low]) and not (row.cells or row.is_ghost or row.anchors):
            self.low -= 1
        return self.low

    def feed_line(self, end: int) -> None:
        """Move to the next row, because of a newline that ends at this offset."""
        row, y = self.rows[self.y], self.y
        if not row.is_ghost:
            if row.end < 0:
                row.start = end - 1
            row.end, row.at = end, self.at
        self._step_down(end)
        row = self.rows[self.y]
        # In the last row, below the region, the cursor stays where it is.
        if (self.y != y or y == self.bottom) and not row.cells and not row.is_ghost:
            row.start, row.end, row.at = end, end, self.at

    def begin_row(self, start: int) -> None:
        """Move to the start of the row below a line that has ended, at this offset."""
        self._step_down(start)
        row = self.rows[self.y]
        self.x = 0
        row.start, row.end, row.at = start, start, self.at

    def wrap_line(self, offset: int) -> None:
        """Continue the line in the next row, with the character at this offset."""
        self.rows[self.y].is_wrapped = True
        self._step_down(offset)
        self.x = 0

    def _step_down(self, offset: int) -> None:
        if self.y == self.bottom:
            self.offset = offset
            self.scroll_up(1)
        elif self.y < self.height - 1:
            self.y += 1

    def scroll_up(self, count: int) -> None:
        """Scroll the region; its top rows leave the window."""
        leaving = self.rows[self.top : self.top + count]
        del self.rows[self.top : self.top + count]
        place = self.bottom + 1 - count
        self.rows[place:place] = self.build_blank_rows(count)
        self.settle_rows(leaving)

    def settle_rows(self, rows: Sequence[Row]) -> None:
        """Settle rows that have left the window at the top of the screen or of its region."""
        if self.frozen is not None:
            return
        self.count_scrolled(len(rows))
        for row in rows:
            if self.head or row.is_wrapped or row.is_ghost or row.anchors or len(row.cells) > LINE_LIMIT:
                self._extend_head(row)
            else:
                cells, end = row.cells, row.end
                is_simple = row.is_text or (cells.isascii() and row.combined is None and FILLER not in cells)
                text = cells if is_simple else join_cells((row,))
                line = SettledLine(text.rstrip(" "), row.start, end if end >= 0 else row.start, row.at)
                self.settled_lines.append(line)
                self.settled_count += 1

    def count_scrolled(self, count: int) -> None:
        """Count rows that left the window."""
        self.scrolled = min(self.scrolled + count, _MAX_SCROLLED)
        self.history = min(self.history + count, _MAX_SCROLLED)

    def _extend_head(self, row: Row) -> None:
        """Add a row to the line that is leaving, and settle the line if the row ends it."""
        row.expand()
        text, end, head = join_cells((row,)), max(row.start, row.end), self.head
        if head is None:
            head = LineHead(text, len(row.cells), row.start, end, row.at, row.is_ghost, row.anchors)
        else:
            head.text, head.columns = head.text + text, head.columns + len(row.cells)
            head.end, head.at = max(head.end, end), max(head.at, row.at)
            head.is_ghost = head.is_ghost and row.is_ghost
            row.add_anchors(head.anchors)
            head.anchors = row.anchors
        self.head = head
        while len(head.text) > LINE_LIMIT:
            self._cut_head(head)
        if not row.is_wrapped:
            self.end_head()

    def _cut_head(self, head: LineHead) -> None:
        cut = find_cut(head.text)
        self.final_anchors += [LineAnchor(mark, self.settled_count) for mark, is_own in head.anchors if is_own]
        head.anchors = tuple(anchor for anchor in head.anchors if not anchor[1])
        self._emit_head(head, head.text[:cut])
        head.text, head.start = head.text[cut:], head.end

    def _emit_head(self, head: LineHead, text: str) -> None:
        if not head.is_ghost:
            self.settled_lines.append(SettledLine(text.rstrip(" "), head.start, head.end, head.at))
            self.settled_count += 1

    def end_head(self) -> None:
        """Settle the line that has begun to leave the window, because its last row is gone."""
        head, self.head = self.head, None
        if head is not None:
            index = self.settled_count
            self._emit_head(head, head.text)
            after = self.settled_count
            self.final_anchors += [LineAnchor(mark, index if is_own else after) for mark, is_own in head.anchors]

    def settle_page(self) -> None:
        """Settle the rows down to the last used one, because the screen is cleared. The cursor stays."""
        used = max((index + 1 for index, row in enumerate(self.rows) if row.cells), default=0)
        page, self.rows = self.rows[:used], self.rows[used:]
        digest = self._compute_digest(page)
        if not digest or self.head is not None or self.page != (digest, self.settled_count):
            self.settle_rows(page)
        if used < self.height:
            self.end_head()
        for row in self.rows:
            self.clear_row(row)
        self.rows += self.build_blank_rows(used)
        self.page = (digest, self.settled_count)
        self.scrolled = 0 if used else self.scrolled

    def _compute_digest(self, rows: Sequence[Row]) -> bytes:
        """Return a digest of the rows, so that equal frames of a program that clears the screen are stored once.

        It is empty if there is nothing to compare, or if rows have marks, because then they are output of commands.
        """
        texts = [f"{join_cells((row,)).rstrip(' ')}\n" for row in rows if not row.is_ghost]
        if not texts or any(row.anchors for row in rows):
            return b""
        return blake2b("".join(texts).encode("utf-8", "replace"), digest_size=8).digest()

    def settle_remaining(self) -> None:
        """Settle the rows down to the last one with text, and empty the window."""
        rows = self.rows if self.frozen is None else self.frozen.rows
        self.frozen = None
        used = max((index + 1 for index, row in enumerate(rows) if row.has_text), default=0)
        self.settle_rows(rows[:used])
        self.end_head()
        blank_rows = rows[used:]
        self.final_anchors += [LineAnchor(mark, self.settled_count) for row in blank_rows for mark, _ in row.anchors]
        self.rows, self.x, self.y = self.build_blank_rows(self.height), 0, 0

    def clear_row(self, row: Row) -> None:
        row.is_text = False
        if row.cells or row.is_ghost:
            row.cells, row.start, row.end, row.at = "", self.offset, -1, self.at
        row.is_wrapped = row.is_ghost = False
        row.combined = None
        if row.anchors:
            # The text from before the marks is gone.
            row.anchors = tuple((mark, True) for mark, _ in row.anchors)

    def clear_rows(self, first: int, last: int) -> None:
        """Clear the rows from ``first`` up to, but not including, ``last``."""
        if first < last:
            self.note_split(last - 1)
            for y in range(first, last):
                self.note_loss(y)
            self.unwrap_above(first)
            for row in self.rows[first:last]:
                self.clear_row(row)

    def unwrap_above(self, y: int) -> None:
        """End the line above row ``y``, because that row no longer continues it."""
        self.note_split(max(y, 1) - 1)
        self._end_line_above(y)

    def move_rows(self, target: int, source: int, count: int) -> None:
        """Move rows over others as tmux's grid_move_lines does. Rows left behind are blank."""
        if count <= 0 or target == source:
            return
        for y in (max(target, 1) - 1, max(source, 1) - 1, source + count - 1, target + count - 1):
            self.note_split(y)
        lost = range(target, source) if target < source else range(source + count, target + count)
        for y in lost:
            self.note_loss(y)
        self.low = self.height - 1
        rows, moved = self.rows, self.rows[source : source + count]
        for row in rows[lost.start : lost.stop]:
            heir = moved[0] if target < source else moved[-1]
            heir.add_anchors(tuple((mark, True) for mark, _ in row.anchors))
        rows[target : target + count] = moved
        self._end_line_above(target)
        for y in range(source, source + count):
            if not target <= y < target + count:
                rows[y] = Row("", self.offset, -1, self.at)
        if not target <= source < target + count:
            self._end_line_above(source)

    def _end_line_above(self, y: int) -> None:
        if y == 0:
            self.end_head()
        else:
            self.rows[y - 1].is_wrapped = False

    def note_split(self, y: int) -> None:
        """Record the line of row ``y`` if a word that continues in the next row will be torn apart."""
        if not self.rows[y].is_wrapped or self.frozen is not None:
            return
        first, last = find_line(self.rows, y)
        left, right = self._join_line(first, y), join_cells(self.rows[y + 1 : last + 1])
        shown, border = left + right, len(left)
        piece = find_remaining_piece(shown, border, len(shown), "") or find_remaining_piece(shown, 0, border, "")
        if piece:
            self.overwrites.record_overwrite(piece, self.find_line_start(first), shown)

    def note_loss(self, y: int) -> None:
        """Record the line of row ``y``, which is about to go, if it may contain a secret."""
        row = self.rows[y]
        if row.cells and not row.is_ghost and self.frozen is None:
            first, last = find_line(self.rows, y)
            if y in (first, last):
                text = self._join_line(first, last) if first < last or not row.cells.isascii() else row.cells
                self.overwrites.record_loss(self.find_line_start(first), text)

    def note_overwrite(self, y: int, start: int, end: int, cells: str) -> None:
        """Record the line of row ``y`` if replacing columns leaves a piece of a word."""
        row, before = self.rows[y], ""
        if y and self.rows[y - 1].is_wrapped:
            before = self.rows[y - 1].cells[-_NEIGHBOR_CELLS:]
        elif y == 0 and self.head is not None:
            before = self.head.text[-_NEIGHBOR_CELLS:]
        after = self.rows[y + 1].cells[:_NEIGHBOR_CELLS] if row.is_wrapped and y + 1 < self.height else ""
        shown = before + row.cells + after
        start, end = start + len(before), end + len(before)
        if start == 0 and end >= len(shown) and not cells.startswith(shown):
            self.note_loss(y)
        elif (start or end < len(shown)) and (piece := find_remaining_piece(shown, start, end, cells)):
            first, last = find_line(self.rows, y)
            line_start = self.find_line_start(first)
            if self.overwrites.is_new(piece, line_start):
                self.overwrites.record_overwrite(piece, line_start, self._join_line(first, last))

    def _join_line(self, first: int, last: int) -> str:
        text = join_cells(self.rows[first : last + 1])
        return self.head.text + text if first == 0 and self.head is not None else text

    def find_line_start(self, first: int) -> int:
        """Return the start of the line whose first row in the window is ``first``."""
        return self.head.start if first == 0 and self.head is not None else self.rows[first].start

    def touch_ghost(self, y: int) -> None:
        """Make the stored line of row ``y`` a new line, because it is written to."""
        first, last = find_line(self.rows, y)
        for row in self.rows[first : last + 1]:
            if row.is_ghost:
                row.is_ghost = False
                row.start, row.end, row.at = self.offset, self.offset, self.at

    def add_anchor(self, mark: int) -> None:
        """Anchor a mark to the cursor's row."""
        rows, y = (self.rows, self.y) if self.frozen is None else (self.frozen.rows, self.frozen.y)
        first, last = find_line(rows, y)
        is_begun = first == 0 and self.head is not None and bool(self.head.text.strip(" "))
        has_text = is_begun or any(row.has_text for row in rows[first : last + 1])
        rows[y].add_anchors(((mark, not has_text),))
        self.low = max(self.low, y)
