"""Render tables that fit the terminal: columns of little worth are dropped, then wide cells are shortened.

Invariant: no row is wider than the terminal. Without a terminal nothing is dropped or shortened, so that scripts see
every value in full.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from termvisor.ops.render.text import (
    RenderOptions,
    escape_markdown,
    format_time,
    measure_width,
    pluralize,
    sanitize,
    shorten,
    shorten_home,
    shorten_middle,
)

CellKind = Literal["text", "folder", "time", "sentence"]
ALWAYS = 9
"""The worth of a column that is never dropped."""
# Two spaces separate the columns.
_GAP_WIDTH = 2
# Shrunk further, a cell would be nothing but an ellipsis.
_HARD_MIN_WIDTH = 3
_NO_VALUE = ("", "-")


class TableColumn(Struct, frozen=True):
    """One column.

    If the table is too wide, the columns of the lowest ``worth`` are dropped first, those without any value before all
    others, until the rest fits with its ``can_shrink`` columns at ``min_width``; these then share what is left.
    ``choose_style`` overrides ``style`` per item. In a terminal, a `folder` is shortened in the middle with `~` for
    home, and a `time` (ISO 8601) is shown as its age. A `sentence`, in the last column, is never cut:
    its row is folded instead.
    """

    title: str
    render_cell: Callable[[Any], str]
    is_right_aligned: bool = False
    can_shrink: bool = False
    style: str = ""
    choose_style: Callable[[Any], str] | None = None
    min_width: int = 8
    worth: int = ALWAYS
    kind: CellKind = "text"

    def get_style(self, item: Any, cell: str) -> str:
        """Return the style of a cell. A cell without a value is no warning."""
        if cell == "-":
            return "dim"
        return self.style if self.choose_style is None else self.choose_style(item)

    def format_cell(self, item: Any, options: RenderOptions) -> str:
        cell = sanitize(self.render_cell(item))
        if self.kind == "folder":
            return shorten_home(cell, options)
        return format_time(cell, options) if self.kind == "time" else cell


class _MeasuredColumn(Struct):
    """A column with its formatted cells and widths in terminal columns."""

    column: TableColumn
    cells: list[str]
    styles: list[str]
    natural_width: int
    width: int = 0

    @property
    def min_width(self) -> int:
        return min(self.natural_width, self.column.min_width) if self.column.can_shrink else self.natural_width

    @property
    def has_value(self) -> bool:
        return any(cell not in _NO_VALUE for cell in self.cells)


def render_table(columns: Sequence[TableColumn], items: Sequence[Any], options: RenderOptions) -> str:
    """Render an aligned or Markdown table; empty if there are no items.

    A last line counts the columns that a narrow terminal has no room for.
    """
    if options.format == "markdown":
        rows = [[sanitize(column.render_cell(item)) for column in columns] for item in items]
        return _render_markdown_table(columns, rows)
    if not items:
        return ""
    measured = [_measure_column(column, items, options) for column in columns]
    kept = _drop_columns(measured, options.width) if options.width else measured
    _set_widths(kept, options.width)
    lines = [_render_row(kept, index, options) for index in range(-1 if not options.is_quiet else 0, len(items))]
    hidden = len(measured) - len(kept)
    if hidden and not options.is_quiet:
        note = f"({pluralize(hidden, 'more column')}: --wide)"
        lines.append(options.paint("dim", shorten(note, options.width)))
    return "\n".join(lines)


def _measure_column(column: TableColumn, items: Sequence[Any], options: RenderOptions) -> _MeasuredColumn:
    cells = [column.format_cell(item, options) for item in items]
    styles = [column.get_style(item, cell) for item, cell in zip(items, cells, strict=True)]
    title = [] if options.is_quiet else [column.title]
    return _MeasuredColumn(column, cells, styles, max(map(measure_width, [*title, *cells])))


def _drop_columns(measured: list[_MeasuredColumn], max_width: int) -> list[_MeasuredColumn]:
    """Return the columns whose minimum widths fit, without those of the lowest worth."""
    kept = list(measured)
    # Of equal columns the last one is dropped first; sorting is stable.
    droppable = [entry for entry in reversed(measured) if entry.column.worth < ALWAYS]
    for entry in sorted(droppable, key=lambda entry: (entry.has_value, entry.column.worth)):
        if _sum_widths([entry.min_width for entry in kept]) <= max_width:
            break
        kept.remove(entry)
    return kept


def _sum_widths(widths: list[int]) -> int:
    return sum(widths) + _GAP_WIDTH * (len(widths) - 1)


def _set_widths(kept: list[_MeasuredColumn], max_width: int) -> None:
    for entry in kept:
        entry.width = entry.natural_width
    excess = _sum_widths([entry.width for entry in kept]) - max_width if max_width else 0
    shrinkable = [entry for entry in kept if entry.column.can_shrink]
    # On a tiny terminal, also below the widths at which cells are readable.
    for floors in ([entry.min_width for entry in shrinkable], [_HARD_MIN_WIDTH] * len(shrinkable)):
        # One terminal column at a time from the widest, so that none is cut more than necessary.
        while excess > 0 and any(entry.width > floor for entry, floor in zip(shrinkable, floors, strict=True)):
            rooms = [entry.width - floor for entry, floor in zip(shrinkable, floors, strict=True)]
            shrinkable[rooms.index(max(rooms))].width -= 1
            excess -= 1


def _render_row(kept: list[_MeasuredColumn], index: int, options: RenderOptions) -> str:
    """Render one row, or the titles for the index -1."""
    parts, room = [], options.width or sum(entry.width + _GAP_WIDTH for entry in kept)
    for entry in kept:
        is_title = index < 0
        cell, style = (entry.column.title, "bold") if is_title else (entry.cells[index], entry.styles[index])
        cut = shorten_middle if entry.column.kind == "folder" and not is_title else shorten
        text = cell if entry.column.kind == "sentence" else cut(cell, max(0, min(entry.width, room)))
        pad, painted = " " * (entry.width - measure_width(text)), options.paint(style, text)
        parts.append(pad + painted if entry.column.is_right_aligned else painted + pad)
        room -= entry.width + _GAP_WIDTH
    return (" " * _GAP_WIDTH).join(parts).rstrip()


def _render_markdown_table(columns: Sequence[TableColumn], rows: list[list[str]]) -> str:
    head = "| " + " | ".join(column.title for column in columns) + " |"
    rule = "|" + "|".join("--:" if column.is_right_aligned else "---" for column in columns) + "|"
    body = ["| " + " | ".join(escape_markdown(cell) for cell in row) + " |" for row in rows]
    return "\n".join([head, rule, *body])
