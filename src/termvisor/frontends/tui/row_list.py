"""A list of rows with a cursor that stays on its row, whatever is inserted, removed or sorted around it.

Only rows that changed are painted again: one widget per row, or a table widget, costs ninety times as much.
"""

from collections.abc import Hashable, Sequence

from msgspec import Struct
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from termvisor.frontends.tui.styled_text import STYLES, StyledPart, build_strip

_CURSOR_STYLE = Style(reverse=True)


class ListRow(Struct, frozen=True, kw_only=True):
    """One row. ``key`` identifies it across changes; ``pane`` is the pane that it is about, if any."""

    key: Hashable
    parts: tuple[StyledPart, ...]
    pane: int | None = None
    can_select: bool = True


class RowList(Widget):
    """Shows rows and a cursor. The owner sets the rows and moves the cursor."""

    def __init__(self, *, id: str, shows_cursor: bool = True):  # noqa: A002 - the parameter of every widget
        super().__init__(id=id)
        self.styles_by_name = STYLES
        self.rows: tuple[ListRow, ...] = ()
        self.top = 0
        self._cursor: Hashable = None
        self._shows_cursor = shows_cursor
        self._strips: dict[tuple[ListRow, bool, int], Strip] = {}

    @property
    def current(self) -> ListRow | None:
        """The row under the cursor."""
        index = self._find_index(self._cursor)
        return None if index is None else self.rows[index]

    def set_rows(self, rows: Sequence[ListRow]) -> None:
        """Replace the rows. The cursor stays on its row, at the same height of the view if possible."""
        before, old_top, old_index = self.rows, self.top, self._find_index(self._cursor)
        self.rows = tuple(rows)
        index = self._find_index(self._cursor)
        if index is None:
            # The row is gone: the cursor goes to what is now in its place.
            index = self._find_selectable(min(old_index or 0, len(self.rows) - 1), 1)
            self._cursor = None if index is None else self.rows[index].key
        elif old_index is not None:
            self.top += index - old_index
        self._scroll_to_cursor()
        if self.top != old_top:
            self.refresh()
            return
        visible = range(self.top, self.top + self.size.height)
        changed = [y for y in visible if _get(before, y) is not _get(self.rows, y) and _get(before, y) != _get(rows, y)]
        self._refresh_rows({*changed, *(() if index == old_index else (index, old_index))})

    def move_cursor(self, step: int) -> None:
        """Move by so many rows, over rows that cannot be selected."""
        index = self._find_index(self._cursor)
        target = max(0, min(len(self.rows) - 1, (index or 0) + step))
        found = self._find_selectable(target, 1 if step > 0 else -1)
        if found is None:
            found = self._find_selectable(target, -1 if step > 0 else 1)
        if found is not None:
            self.select_key(self.rows[found].key)

    def select_key(self, key: Hashable) -> None:
        """Move the cursor to a row; do nothing if there is none with this key."""
        index, before = self._find_index(key), self._find_index(self._cursor)
        if index is None:
            return
        old_top, self._cursor = self.top, key
        self._scroll_to_cursor()
        if self.top != old_top:
            self.refresh()
        else:
            self._refresh_rows({index, before})

    def render_line(self, y: int) -> Strip:
        width, index = self.size.width, self.top + y
        if index >= len(self.rows):
            return Strip.blank(width)
        row = self.rows[index]
        is_current = self._shows_cursor and row.key == self._cursor
        key = (row, is_current, width)
        if (strip := self._strips.get(key)) is None:
            if len(self._strips) > 4 * max(50, len(self.rows)):
                self._strips.clear()
            base = _CURSOR_STYLE if is_current else None
            strip = self._strips[key] = build_strip(row.parts, width, self.styles_by_name, base)
        return strip

    def set_theme(self, styles: dict[str, Style]) -> None:
        self.styles_by_name = styles
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        self._strips.clear()
        self._scroll_to_cursor()

    def _find_index(self, key: Hashable) -> int | None:
        return next((index for index, row in enumerate(self.rows) if row.key == key), None)

    def _find_selectable(self, start: int, step: int) -> int | None:
        indexes = range(max(start, 0), len(self.rows) if step > 0 else -1, step)
        return next((index for index in indexes if self.rows[index].can_select), None)

    def _scroll_to_cursor(self) -> None:
        height, index = max(1, self.size.height), self._find_index(self._cursor) or 0
        # A heading above the first row that can be selected is shown with it.
        first = 0 if index and self._find_selectable(0, 1) == index else index
        self.top = max(0, min(max(self.top, index - height + 1), first, max(0, len(self.rows) - 1)))

    def _refresh_rows(self, indexes: set[int | None]) -> None:
        rows = [index - self.top for index in indexes if index is not None]
        visible = [y for y in rows if 0 <= y < self.size.height]
        if visible:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in visible))


def _get(rows: Sequence[ListRow], index: int) -> ListRow | None:
    return rows[index] if index < len(rows) else None
