"""The parts of opencode's screen: the last message, the composer, the line below it, or a panel in their place.

┃  the last prompt
   what it said
   ▣  Build · Model · 8.3s              the end of a message; without a time it goes on, or was broken off
┃
┃  Build · Model Provider               the composer's last row
╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
 ⬝⬝■■■■■■  esc interrupt                below: work, or the folder
"""

import re

from termvisor.agents.adapters.screen_classifier import Parts, shown_rows
from termvisor.model.terminal.screen import Screen

_EDGE = re.compile(r"\s*╹▀{6,}")
_BAR = re.compile(r"\s*┃")
_END = re.compile(r"\s+▣  \S")


def parts_of(screen: Screen) -> Parts:
    rows = shown_rows(screen.rows)
    edge = max((at for at, row in enumerate(rows) if _EDGE.match(row)), default=None)
    if edge is not None:
        composer = _block(rows, edge)
        above = rows[: edge - len(composer)]
        return {
            "composer": [_inner(row) for row in composer],
            "below": [" ".join(" ".join(rows[edge + 1 :]).split())],
            **_conversation(shown_rows(above)),
        }
    panel = _block(rows, len(rows))
    return {"panel": [inner for row in panel if (inner := _inner(row))]} if len(panel) > 2 else {}


def panel_of(screen: Screen) -> tuple[str, ...]:
    """The panel's rows, as they are shown."""
    rows = shown_rows(screen.rows)
    return tuple(row for row in _block(rows, len(rows)) if _inner(row))


def _conversation(rows: list[str]) -> dict[str, list[str]]:
    """The last row, and the block with a bar that stands before it, where there is nothing between them."""
    if not rows or not _END.match(rows[-1]):
        return {"end": rows[-1:]}
    before = shown_rows(rows[:-1])
    return {"end": rows[-1:], "broken": [_inner(row) for row in _block(before, len(before))]}


def _block(rows: list[str], end: int) -> list[str]:
    """The rows with a bar that end there."""
    start = end
    while start and _BAR.match(rows[start - 1]):
        start -= 1
    return rows[start:end]


def _inner(row: str) -> str:
    return row.lstrip().removeprefix("┃").strip()
