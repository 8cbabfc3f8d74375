"""Turn the screens of a pane that can only be polled into the stream that its program printed. Pure.

In: screens, one after the other. Out: text that continues the stream so that a terminal shows the same rows. Invariant:
rows are added only where a screen proves that they follow; the row of the cursor is unfinished and may be rewritten.
"""

from collections.abc import Sequence

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.epochs import find_cursor_column
from termvisor.capture.overlap import find_rows_after_tail

# Rows that are remembered, to find where the next screen continues.
_MAX_TAIL_ROWS = 400
# Scrollback of this length may have lost its first rows.
_MIN_TRUNCATED_ROWS = 1000
_REWRITE_ROW = "\r\x1b[K"


class ScreenFollower:
    """The rows of one pane as the stream has them: ``tail`` are finished ones, ``pending`` is the cursor's row."""

    def __init__(self) -> None:
        self._tail: list[str] | None = None
        self._pending = ""
        self._is_pending_ours = self._has_scrolled = False

    def begin_behind_alternate(self) -> None:
        """Note that the main screen is not visible. If it never was, nothing of it is stored."""
        self._tail = [] if self._tail is None else self._tail

    def follow(self, capture: PaneCapture) -> str | None:
        """Return what continues the stream up to this screen; None if the screen does not prove where it continues."""
        rows, pending = _split_rows(capture)
        has_scrolled = len(rows) + 1 >= capture.height
        starts_at_top = not has_scrolled or capture.height < len(capture.rows) < _MIN_TRUNCATED_ROWS
        if self._tail is None:
            # The start of the epoch stored this screen.
            self._tail, self._pending, self._has_scrolled = rows[-_MAX_TAIL_ROWS:], pending, has_scrolled
            return ""
        new_rows = self._find_new_rows(rows, starts_at_top=starts_at_top)
        if new_rows is None:
            return None
        text = "".join(f"{self._rewrite_row(row)}\r\n" for row in new_rows)
        if pending != self._pending:
            text += self._rewrite_row(pending)
            self._pending, self._is_pending_ours = pending, True
        self._tail = [*self._tail, *new_rows][-_MAX_TAIL_ROWS:]
        self._has_scrolled = has_scrolled
        return text

    def _find_new_rows(self, rows: Sequence[str], *, starts_at_top: bool) -> list[str] | None:
        """Return the rows after those that are known; ``starts_at_top`` if they begin with the terminal's first."""
        tail = self._tail or []
        # Nothing had left the screen before, so rows that did not change are where they were.
        if starts_at_top and not self._has_scrolled and list(rows[: len(tail)]) == tail:
            return list(rows[len(tail) :])
        return find_rows_after_tail(tail, rows)

    def _rewrite_row(self, row: str) -> str:
        """Return what makes the cursor's row this one, and remember that it is empty afterwards."""
        before, is_ours, self._pending, self._is_pending_ours = self._pending, self._is_pending_ours, "", True
        if row.startswith(before) and (is_ours or not before):
            return row[len(before) :]
        return f"{_REWRITE_ROW}{row}"


def _split_rows(capture: PaneCapture) -> tuple[list[str], str]:
    """Return the finished rows, without the empty ones below them, and the row of the cursor if that is the last."""
    rows = [row.rstrip() for row in capture.rows]
    while rows and not rows[-1]:
        rows.pop()
    is_last_unfinished = find_cursor_column(capture, len(rows)) is not None
    return (rows[:-1], rows[-1]) if is_last_unfinished else (rows, "")
