"""A slow terminal for comparison: one Python object per cell, one method per sequence, no shortcuts.

Lines that leave the screen are appended to ``history``, with the flag that tells whether they go on in the next one.
"""

BLANK = " "
WIDE = "日本語漢字"
PADDING = ""


class CellRow:
    """A row of cells; ``cells`` is as long as the part that was ever used."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.is_wrapped = False

    def set_cell(self, x: int, value: str) -> None:
        while len(self.cells) <= x:
            self.cells.append(BLANK)
        self.cells[x] = value

    def get_cell(self, x: int) -> str:
        return self.cells[x] if x < len(self.cells) else BLANK


class CellScreen:
    """The screen of a terminal; each method returns the bytes that have its effect."""

    def __init__(self, width: int, height: int):
        self.width, self.height = width, height
        self.rows = [CellRow() for _ in range(height)]
        self.history: list[CellRow] = []
        self.x = self.y = 0
        self.top, self.bottom = 0, height - 1
        self.saved = (0, 0)

    def list_lines(self) -> list[str]:
        """Return the lines in the history and on the screen, down to the last text."""
        lines, text = [], ""
        for row in [*self.history, *self.rows]:
            text += "".join(row.cells)
            if not row.is_wrapped:
                lines.append(text.rstrip(" "))
                text = ""
        lines.append(text.rstrip(" "))
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _unwrap_above(self, y: int) -> None:
        above = self.rows[y - 1] if y else self.history[-1] if self.history else None
        if above is not None:
            above.is_wrapped = False

    def _clear_row(self, y: int) -> None:
        self.rows[y] = CellRow()
        self._unwrap_above(y)

    def _scroll_up(self) -> None:
        self.history.append(self.rows.pop(self.top))
        self.rows.insert(self.bottom, CellRow())

    def _step_down(self) -> None:
        if self.y == self.bottom:
            self._scroll_up()
        elif self.y < self.height - 1:
            self.y += 1

    def write(self, text: str) -> bytes:
        for character in text:
            width = 2 if character in WIDE else 1
            if self.x + width > self.width:
                self.rows[self.y].is_wrapped = True
                self._step_down()
                self.x = 0
            self._put(character, width)
        return text.encode()

    def _put(self, character: str, width: int) -> None:
        row = self.rows[self.y]
        if self.x and row.get_cell(self.x) == PADDING and row.get_cell(self.x - 1) in (PADDING, *WIDE):
            row.set_cell(self.x - 1, BLANK)
        if row.get_cell(self.x + width) == PADDING:
            row.set_cell(self.x + width, BLANK)
        row.set_cell(self.x, character)
        if width == 2:
            row.set_cell(self.x + 1, PADDING)
        self.x += width

    def feed_line(self, _: int) -> bytes:
        self._step_down()
        return b"\n"

    def begin_line(self, _: int) -> bytes:
        self.x = 0
        self._step_down()
        return b"\r\n"

    def return_carriage(self, _: int) -> bytes:
        self.x = 0
        return b"\r"

    def go_back(self, _: int) -> bytes:
        if self.x:
            self.x -= 1
        elif self.y and self.rows[self.y - 1].is_wrapped:
            self.x, self.y = self.width - 1, self.y - 1
        return b"\b"

    def go_to_tab_stop(self, _: int) -> bytes:
        if self.x < self.width - 1:
            self.x = min(self.x // 8 * 8 + 8, self.width - 1)
        return b"\t"

    def move_up(self, count: int) -> bytes:
        limit = self.top if self.y >= self.top else 0
        self.x, self.y = min(self.x, self.width - 1), max(self.y - count, limit)
        return b"\x1b[%dA" % count

    def move_down(self, count: int) -> bytes:
        limit = self.bottom if self.y <= self.bottom else self.height - 1
        self.x, self.y = min(self.x, self.width - 1), min(self.y + count, limit)
        return b"\x1b[%dB" % count

    def move_right(self, count: int) -> bytes:
        self.x = min(self.x + count, self.width - 1)
        return b"\x1b[%dC" % count

    def move_left(self, count: int) -> bytes:
        self.x = max(self.x - count, 0)
        return b"\x1b[%dD" % count

    def move_to_column(self, count: int) -> bytes:
        self.x = min(count, self.width) - 1
        return b"\x1b[%dG" % count

    def move_to_row(self, count: int) -> bytes:
        self.y = min(count, self.height) - 1
        return b"\x1b[%dd" % count

    def move_to(self, count: int) -> bytes:
        self.x, self.y = min(count, self.width) - 1, min(count, self.height) - 1
        return b"\x1b[%d;%dH" % (count, count)

    def save_cursor(self, _: int) -> bytes:
        self.saved = (self.x, self.y)
        return b"\x1b7"

    def restore_cursor(self, _: int) -> bytes:
        self.x, self.y = min(self.saved[0], self.width - 1), self.saved[1]
        return b"\x1b8"

    def erase_to_end(self, _: int) -> bytes:
        if self.x == 0:
            self.erase_row(0)
        elif self.x < self.width:
            self._erase(self.x, self.width)
        return b"\x1b[K"

    def erase_to_start(self, _: int) -> bytes:
        if self.x >= self.width - 1:
            self.erase_row(0)
        else:
            self._erase(0, self.x + 1)
        return b"\x1b[1K"

    def erase_row(self, _: int) -> bytes:
        if self.rows[self.y].cells:
            self._clear_row(self.y)
        return b"\x1b[2K"

    def _erase(self, first: int, stop: int) -> None:
        cells = self.rows[self.y].cells
        for x in range(first, min(stop, len(cells))):
            cells[x] = BLANK

    def erase_below(self, _: int) -> bytes:
        if self.x == self.y == 0:
            self.clear_screen(0)
            return b"\x1b[J"
        if self.x == 0:
            self._clear_row(self.y)
        elif self.x < self.width:
            self._erase(self.x, self.width)
        for y in range(self.y + 1, self.height):
            self._clear_row(y)
        return b"\x1b[J"

    def clear_screen(self, _: int) -> bytes:
        used = max((y + 1 for y, row in enumerate(self.rows) if row.cells), default=0)
        self.history += self.rows[:used]
        self.rows = self.rows[used:] + [CellRow() for _ in range(used)]
        for y in range(self.height - used):
            self._clear_row(y)
        return b"\x1b[2J"

    def erase_characters(self, count: int) -> bytes:
        if self.x == 0 and count >= self.width:
            self._clear_row(self.y)
        elif self.x < self.width:
            self._erase(self.x, min(self.x + count, self.width))
        return b"\x1b[%dX" % count

    def delete_characters(self, count: int) -> bytes:
        cells = self.rows[self.y].cells
        if self.x == 0 and count >= self.width:
            self._clear_row(self.y)
        elif self.x < self.width:
            used = max(len(cells), self.width - count if self.x + count < self.width else 0)
            del cells[self.x : self.x + count]
            cells += [BLANK] * (used - len(cells))
        return b"\x1b[%dP" % count

    def reverse_feed(self, _: int) -> bytes:
        if self.y == self.top:
            self.rows.pop(self.bottom)
            self.rows[self.top].is_wrapped = False
            self.rows.insert(self.top, CellRow())
            self._unwrap_above(self.top)
        elif self.y:
            self.y -= 1
        return b"\x1bM"

    def scroll_up(self, count: int) -> bytes:
        for _ in range(min(count, self.bottom + 1 - self.top)):
            self._scroll_up()
        return b"\x1b[%dS" % count

    def set_region(self, count: int) -> bytes:
        if count < self.height:
            self.top, self.bottom, self.x, self.y = count - 1, self.height - 1, 0, 0
        return b"\x1b[%dr" % count
