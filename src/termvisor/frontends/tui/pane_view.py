"""The view of one pane: its screen in colours, or lines of text about it.

A picture is painted as a whole, and only its rows that changed: nothing of a half-painted screen is shown.
"""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from termvisor.frontends.tui.styled_text import parse_colored_row, strip_lines
from termvisor.ops.panes.watch_screen import ScreenUpdate


class PaneDisplay(Widget):
    """Shows rows; ``left`` is the first column shown of a screen that is wider than the view."""

    def __init__(self, *, id: str):  # noqa: A002 - the parameter of every widget
        super().__init__(id=id)
        self._rows: list[tuple[Segment, ...]] = []
        self._cursor: tuple[int, int] | None = None
        self._top = self.left = 0
        self.pane: int | None = None

    def show_update(self, update: ScreenUpdate) -> None:
        """Take the rows that changed over."""
        is_full = update.is_full or update.pane != self.pane
        if is_full:
            self._rows, self.pane, self._top = [], update.pane, 0
        missing = max((row.row + 1 for row in update.rows), default=0) - len(self._rows)
        self._rows += [()] * missing
        changed = {row.row for row in update.rows}
        for row in update.rows:
            self._rows[row.row] = parse_colored_row(row.text)
        changed |= {cursor[1] for cursor in (self._cursor, (update.cursor_x, update.cursor_y)) if cursor is not None}
        self._cursor = update.cursor_x, update.cursor_y
        before, self._top = self._top, self._find_top(update)
        if is_full or before != self._top:
            self.refresh()
        else:
            self._refresh_rows(changed)

    def show_text(self, pane: int | None, text: str, *, has_colours: bool = False, at_end: bool = False) -> None:
        """Show lines of text instead of a screen."""
        lines = text.splitlines()
        self._rows = [parse_colored_row(line.expandtabs(8)) for line in lines] if has_colours else build_rows(text)
        self._cursor, self.pane, self.left = None, pane, 0
        self._top = max(0, len(self._rows) - self.size.height) if at_end else 0
        self.refresh()

    def scroll_rows(self, step: int) -> None:
        self._top = max(0, min(self._top + step, len(self._rows) - 1))
        self.refresh()

    def scroll_columns(self, step: int) -> None:
        self.left = max(0, self.left + step)
        self.refresh()

    def get_texts(self) -> list[str]:
        """Return the rows as plain text."""
        return ["".join(segment.text for segment in row) for row in self._rows]

    def render_line(self, y: int) -> Strip:
        width, index = self.size.width, self._top + y
        if index >= len(self._rows):
            return Strip.blank(width)
        strip = Strip(self._rows[index])
        if self._cursor is not None and self._cursor[1] == index:
            strip = _mark_cursor(strip, self._cursor[0])
        return strip.crop_extend(self.left, self.left + width, Style())

    def _find_top(self, update: ScreenUpdate) -> int:
        """Return the first row shown: a screen higher than the view follows its cursor, else its last rows."""
        used = max((number + 1 for number, row in enumerate(self._rows) if row), default=0)
        last = max(used, update.cursor_y + 1)
        return max(0, last - max(1, self.size.height))

    def _refresh_rows(self, rows: set[int]) -> None:
        visible = [row - self._top for row in rows if 0 <= row - self._top < self.size.height]
        if visible:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in visible))


def build_rows(text: str) -> list[tuple[Segment, ...]]:
    """Return the cleaned lines of a text as rows."""
    return [(Segment(line),) for line in strip_lines(text)]


def _mark_cursor(strip: Strip, column: int) -> Strip:
    padded = strip.extend_cell_length(column + 1)
    before, cell, after = (
        padded.divide([column, column + 1, padded.cell_length])[:3]
        if (padded.cell_length > column + 1)
        else (*padded.divide([column, padded.cell_length]), Strip([]))
    )
    return Strip.join([before, cell.apply_style(Style(reverse=True)), after])


def join_texts(lines: Sequence[str]) -> str:
    return "\n".join(lines)
