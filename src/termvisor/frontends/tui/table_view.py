"""Lay out the live table as screen rows: header, scrolled panes, footer. Pure.

Invariant: never more rows than the screen has; on a short screen header and footer are dropped before panes.
"""

from msgspec import Struct

_HOME, _CLEAR_LINE, _CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"
_SYNC_BEGIN, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"


class TableView(Struct, frozen=True, kw_only=True):
    """The daemon's cost (``head``), column titles, pane rows, a summary (``foot``); ``problem`` replaces the head."""

    head: str = ""
    title: str = ""
    rows: tuple[str, ...] = ()
    foot: str = ""
    problem: str = ""


def count_visible_rows(view: TableView, height: int) -> int:
    """Return the number of pane rows that fit."""
    return max(1, height - len(_compose_header(view, height)) - _count_footer_rows(height))


def compose_rows(view: TableView, height: int, top: int) -> list[str]:
    """Return the rows of the screen with ``top`` as the first visible pane."""
    shown = view.rows[top : top + count_visible_rows(view, height)]
    rows = [*_compose_header(view, height), *shown]
    if not _count_footer_rows(height):
        return rows[:height]
    blank = [""] * (height - 1 - len(rows))
    return [*rows, *blank, _render_footer(view, top, len(shown))][:height]


def scroll_to(top: int, key: str, count: int, page_size: int) -> int:
    """Return the first visible pane after a key."""
    moves = {"up": -1, "down": 1, "page_up": -page_size, "page_down": page_size, "home": -count, "end": count}
    return max(0, min(top + moves.get(key, 0), count - page_size))


def encode_rows(rows: list[str]) -> bytes:
    """Return the bytes that paint the rows in one synchronized update; wrapping is off, so the terminal cuts long rows.

    Rows are cleared before they are written, not after: behind a full row the cursor is still on its last character.
    """
    clears = [*[_CLEAR_LINE] * (len(rows) - 1), _CLEAR_REST]
    body = "\r\n".join(f"{clear}{row}\x1b[0m" for clear, row in zip(clears, rows or [""], strict=True))
    return f"{_SYNC_BEGIN}{_HOME}{body}{_SYNC_END}".encode("utf-8", "replace")


def _compose_header(view: TableView, height: int) -> list[str]:
    rows = [view.problem or view.head, "", view.title] if height >= 8 else [view.problem or view.title]
    return rows if height >= 3 else []


def _count_footer_rows(height: int) -> int:
    return 1 if height >= 5 else 0


def _render_footer(view: TableView, top: int, shown: int) -> str:
    position = f"{top + 1}-{top + shown} of " if shown < len(view.rows) else ""
    return f"{position}{view.foot}   q quits, arrows and PgUp/PgDn scroll; the daemon runs until `visor down`"
