"""Resize a row window as tmux does, and fill it with the rows that a pane shows already.

A wider or higher pane gets rows back that have left the window. They are *ghosts*: their lines are settled, so they are
not settled again, unless a program writes to them. Their text is not kept.
"""

from collections.abc import Sequence

from termvisor.terminal.row_window import LineHead, RowWindow
from termvisor.terminal.screen_row import Row, build_line, cut_cells, find_line, join_cells


def resize_window(window: RowWindow, width: int, height: int) -> None:
    """Change the height first, then the width; rows that no longer fit at the top settle."""
    width, height = max(width, 1), max(height, 1)
    if window.frozen is not None:
        _resize_alternate(window, width, height)
        return
    if height < window.height:
        _remove_rows(window, window.height - height)
    elif height > window.height:
        _add_rows(window, height - window.height)
    if height != window.height:
        window.height, window.top, window.bottom = height, 0, height - 1
    if width != window.width:
        window.tabs = None
        _reflow(window, width)
    window.low = height - 1


def _resize_alternate(window: RowWindow, width: int, height: int) -> None:
    """Resize the alternate screen without joining rows; the main screen follows when it is shown again."""
    if height != window.height:
        window.top, window.bottom = 0, height - 1
    if window.rows:
        window.rows = window.rows[:height] + window.build_blank_rows(height - len(window.rows))
    if width != window.width:
        window.tabs = None
    window.width, window.height = width, height
    window.x, window.y = min(window.x, width), min(window.y, height - 1)


def _remove_rows(window: RowWindow, count: int) -> None:
    """Remove rows below the cursor, even with text, then settle rows at the top."""
    removed = min(count, window.height - 1 - window.y)
    if removed:
        window.note_split(len(window.rows) - removed - 1)
        for y in range(len(window.rows) - removed, len(window.rows)):
            window.note_loss(y)
        heir = window.rows[-removed - 1]
        for row in window.rows[-removed:]:
            heir.add_anchors(tuple((mark, False) for mark, _ in row.anchors))
        del window.rows[-removed:]
        window.rows[-1].is_wrapped = False
    pushed = count - removed
    leaving = window.rows[:pushed]
    del window.rows[:pushed]
    window.y -= pushed
    window.settle_rows(leaving)


def _add_rows(window: RowWindow, count: int) -> None:
    """Get back rows that have scrolled off since the last clear, then add blank ones at the bottom."""
    pulled = min(count, window.scrolled)
    window.scrolled -= pulled
    _pull_rows(window, pulled)
    window.rows += window.build_blank_rows(count - pulled)


def _pull_rows(window: RowWindow, count: int) -> None:
    """Get back rows at the top: first those of the line that has begun to leave, then ghosts."""
    window.history -= count
    window.scrolled = min(window.scrolled, window.history)
    rows = _pull_head(window, count)
    window.rows[:0] = [Row("", window.offset, -1, window.at, is_ghost=True) for _ in range(count - len(rows))] + rows
    window.y += count


def _pull_head(window: RowWindow, count: int) -> list[Row]:
    head = window.head
    if head is None or not count:
        return []
    line = build_line(head.text)
    line.start, line.end, line.at, line.is_ghost = head.start, head.end, head.at, head.is_ghost
    rows = cut_cells(line, window.width)
    kept, pulled = rows[:-count], rows[-count:]
    for row in rows:
        row.is_wrapped = True
    if kept:
        head.text, head.columns = join_cells(kept), head.columns - sum(len(row.cells) for row in pulled)
    else:
        pulled[0].anchors, window.head = head.anchors, None
    return pulled


def _reflow(window: RowWindow, width: int) -> None:
    """Join the rows of each line and cut them again. The screen is the last rows of all."""
    rows, y, cursor = window.rows, window.y, (0, 0)
    for row in rows:
        row.expand()

    result: list[Row] = []
    first = 0
    while first < len(rows):
        _, last = find_line(rows, first)
        line = _join_rows(rows[first : last + 1], window.head if first == 0 else None)
        cut = cut_cells(line, width)
        cut[0].anchors = line.anchors
        if first <= y <= last:
            cursor = _find_cursor(rows[first : last + 1], line, y - first, window.x, cut)
            cursor = (cursor[0], cursor[1] + len(result))
        result += cut
        first = last + 1
    window.head, window.width = None, width
    window.x, window.y = cursor
    leaving = len(result) - window.height
    window.rows = result[max(leaving, 0) :]
    window.y -= max(leaving, 0)
    if leaving > 0:
        window.settle_rows(result[:leaving])
    elif leaving < 0:
        pulled = min(-leaving, window.history)
        _pull_rows(window, pulled)
        window.rows += window.build_blank_rows(-leaving - pulled)
    if window.y < 0:
        window.x = window.y = 0


def _join_rows(rows: Sequence[Row], head: LineHead | None) -> Row:
    """Return a line as one row of any length."""
    line = build_line(head.text) if head is not None else Row()
    for row in rows:
        combined = {len(line.cells) + column: text for column, text in (row.combined or {}).items()}
        line.combined = {**(line.combined or {}), **combined} or None
        line.cells += row.cells
        line.add_anchors(row.anchors)
    line.start, line.at = rows[0].start, max(row.at for row in rows)
    line.end = max(row.end for row in rows)
    line.is_ghost = all(row.is_ghost for row in rows)
    if head is not None:
        line.start, line.end, line.at = head.start, max(head.end, line.end), max(head.at, line.at)
        line.is_ghost = line.is_ghost and head.is_ghost
        line.add_anchors(head.anchors)
    return line


def _find_cursor(rows: Sequence[Row], line: Row, y: int, x: int, cut: Sequence[Row]) -> tuple[int, int]:
    """Return the cursor's column and row in the rows of a line that was cut again."""
    if x >= len(rows[y].cells):
        return len(cut[-1].cells), len(cut) - 1
    behind = sum(len(row.cells) for row in rows[y:]) - x
    column = len(line.cells) - behind
    for number, row in enumerate(cut):
        if column < len(row.cells):
            return column, number
        column -= len(row.cells)
    return len(cut[-1].cells), len(cut) - 1


def seed_window(
    window: RowWindow, texts: Sequence[str], cursor: tuple[int, int], begun: str, begun_column: int
) -> None:
    """Show lines that are stored already, as ghosts. The line ``begun`` at the cursor goes on, if it is not empty."""
    rows = [row for text in texts for row in _cut_text(text, window.width)][-window.height :]
    x, y = cursor
    while rows and not rows[-1].cells:
        rows.pop()
    for row in rows:
        row.is_ghost = True
    if y >= len(rows):
        rows += [Row(is_ghost=True) for _ in range(y - len(rows))]
    if begun:
        first, last = find_line(rows, y) if y < len(rows) else (y, y)
        line = _cut_text(begun, window.width)
        rows[first : last + 1] = line
        x, y = _locate_column(line, begun_column)
        y += first
    surplus = max(0, len(rows) - window.height, y + 1 - window.height)
    rows = rows[surplus:]
    rows += [Row() for _ in range(window.height - len(rows))]
    y, x = max(y - surplus, 0), max(0, min(x, window.width))
    window.history = window.scrolled = 1000 if rows[-1].cells or y == window.height - 1 else 0
    if window.frozen is None:
        window.rows, window.x, window.y, window.low = rows, x, y, window.height - 1
    else:
        window.frozen.rows, window.frozen.x, window.frozen.y = rows, x, y
        window.alternate_saved = (x, y)


def _cut_text(text: str, width: int) -> list[Row]:
    return cut_cells(build_line(text), width)


def _locate_column(rows: Sequence[Row], column: int) -> tuple[int, int]:
    """Return the column in its row and the row of a line's column; behind the text, it is in the last row."""
    for number, row in enumerate(rows[:-1]):
        if column < len(row.cells):
            return column, number
        column -= len(row.cells)
    return column, len(rows) - 1
