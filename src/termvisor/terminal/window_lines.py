"""Read the lines of a row window that are not settled yet. Pure: nothing here changes the window."""

from collections.abc import Iterator

from termvisor.terminal.row_window import LineAnchor, LineHead, ProvisionalLine, RowWindow
from termvisor.terminal.screen_row import FILLER, Row, find_line, join_cells, split_text


def collect_provisional_lines(window: RowWindow) -> list[ProvisionalLine]:
    """Return the lines in the window, down to the cursor or the last text, without those that are stored already."""
    rows, cursor = _get_main_screen(window)
    count = len(rows)
    while count > cursor + 1 and not rows[count - 1].has_text:
        count -= 1
    lines: list[ProvisionalLine] = []
    append, first = lines.append, 0
    while first < count:
        row, last = rows[first], first
        # Most lines are one row; this is called for every pane that printed something.
        if not row.is_wrapped and row.combined is None and (first or window.head is None):
            if not row.is_ghost:
                cells, end = row.cells, row.end if row.end > row.start else row.start
                text = (cells if FILLER not in cells else cells.replace(FILLER, "")).rstrip(" ")
                append(ProvisionalLine(text, row.start, end, row.at, first == cursor))
        else:
            last = find_line(rows, first)[1]
            head = window.head if first == 0 else None
            lines += _build_lines(rows[first : last + 1], head, has_cursor=first <= cursor <= last)
        first = last + 1
    return lines


def _build_lines(rows: list[Row], head: LineHead | None, *, has_cursor: bool) -> Iterator[ProvisionalLine]:
    """Yield the line of these rows, in pieces if it is too long; ``head`` is the part that has left the window."""
    if all(row.is_ghost for row in rows) and (head is None or head.is_ghost):
        return
    text, start = join_cells(rows), rows[0].start
    end, at = max(max(row.end, row.start) for row in rows), max(row.at for row in rows)
    if head is not None:
        text, start, end, at = head.text + text, head.start, max(head.end, end), max(head.at, at)
    *pieces, rest = split_text(text)
    for piece in pieces:
        yield ProvisionalLine(piece.rstrip(" "), start, end, at, has_cursor=False)
    yield ProvisionalLine(rest.rstrip(" "), start, end, at, has_cursor)


def list_anchors(window: RowWindow) -> list[LineAnchor]:
    """Return the anchors in the window with the numbers that their lines have now."""
    rows, _ = _get_main_screen(window)
    if not any(row.anchors for row in rows) and not (window.head is not None and window.head.anchors):
        return []
    index, anchors = window.settled_count, []
    for first, last in _iterate_lines(rows, len(rows)):
        head = window.head if first == 0 else None
        part = rows[first : last + 1]
        is_ghost = all(row.is_ghost for row in part) and (head is None or head.is_ghost)
        text = (head.text if head is not None else "") + join_cells(part)
        after = index if is_ghost else index + len(split_text(text))
        marks = [anchor for row in part for anchor in row.anchors] + list(head.anchors if head is not None else ())
        anchors += [LineAnchor(mark, index if is_own else after) for mark, is_own in marks]
        index = after
    return anchors


def get_cursor_text(window: RowWindow) -> str:
    """Return the text of the line with the cursor."""
    first, last = find_line(window.rows, window.y)
    head = window.head.text if first == 0 and window.head is not None else ""
    return (head + join_cells(window.rows[first : last + 1])).rstrip(" ")


def get_cursor_column(window: RowWindow) -> int:
    """Return the cursor's column in its line."""
    rows, cursor = _get_main_screen(window)
    first, _ = find_line(rows, cursor)
    head = window.head.columns if first == 0 and window.head is not None else 0
    x = window.x if window.frozen is None else window.frozen.x
    return head + sum(len(row.cells) for row in rows[first:cursor]) + x


def _get_main_screen(window: RowWindow) -> tuple[list[Row], int]:
    frozen = window.frozen
    return (window.rows, window.y) if frozen is None else (frozen.rows, frozen.y)


def _iterate_lines(rows: list[Row], count: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each line that begins in the first ``count`` rows."""
    first = 0
    while first < min(count, len(rows)):
        _, last = find_line(rows, first)
        yield first, last
        first = last + 1
