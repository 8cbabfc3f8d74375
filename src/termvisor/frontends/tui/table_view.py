"""The live table as rows of a screen: from what is known and where the reader stands, to exactly what is painted.

Invariant: never more rows than the screen has; when it is short, the panes stay and the rest gives way.
"""

from msgspec import Struct

_HOME, _CLEAR_LINE, _CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"
_SYNC_BEGIN, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"


class TableView(Struct, frozen=True, kw_only=True):
    """``head`` tells our own cost, ``title`` names the columns, ``rows`` are the panes, ``foot`` sums up."""

    head: str = ""
    title: str = ""
    rows: tuple[str, ...] = ()
    foot: str = ""
    trouble: str = ""


def count_visible_rows(view: TableView, height: int) -> int:
    """How many panes fit."""
    return max(1, height - len(_compose_header(view, height)) - _count_footer_rows(height))


def compose_rows(view: TableView, height: int, top: int) -> list[str]:
    """The rows of the screen, with ``top`` as the first pane shown."""
    fits = count_visible_rows(view, height)
    shown = view.rows[top : top + fits]
    rows = [*_compose_header(view, height), *shown]
    if not _count_footer_rows(height):
        return rows[:height]
    blank = [""] * (height - 1 - len(rows))
    return [*rows, *blank, _render_footer(view, top, len(shown))][:height]


def scroll_to(top: int, key: str, count: int, page_size: int) -> int:
    """The first pane shown after this key."""
    moves = {"up": -1, "down": 1, "page_up": -page_size, "page_down": page_size, "home": -count, "end": count}
    return max(0, min(top + moves.get(key, 0), count - page_size))


def encode_rows(rows: list[str]) -> bytes:
    """Bytes that put the rows on the screen in one go; wrapping is off, so a long row is cut by the terminal.

    A row is cleared before it is written, the last one with all below: behind a full one the cursor stands on its last
    character.
    """
    clear = [*[_CLEAR_LINE] * (len(rows) - 1), _CLEAR_REST]
    body = "\r\n".join(f"{before}{row}\x1b[0m" for before, row in zip(clear, rows or [""], strict=True))
    return f"{_SYNC_BEGIN}{_HOME}{body}{_SYNC_END}".encode("utf-8", "replace")


def _compose_header(view: TableView, height: int) -> list[str]:
    rows = [view.trouble or view.head, "", view.title] if height >= 8 else [view.trouble or view.title]
    return rows if height >= 3 else []


def _count_footer_rows(height: int) -> int:
    return 1 if height >= 5 else 0


def _render_footer(view: TableView, top: int, shown: int) -> str:
    place = f"{top + 1}-{top + shown} of " if shown < len(view.rows) else ""
    return f"{place}{view.foot}   q leaves, arrows and PgUp/PgDn scroll; the daemon goes on until `visor down`"
