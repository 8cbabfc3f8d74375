"""Split opencode screens into regions: the last message, the composer, the row below it, or a panel in their place.

┃  the last prompt
   the answer
   ▣  Build · Model · 8.3s              the end of a message; without a time it is in progress or was interrupted
┃
┃  Build · Model Provider               the composer's last row
╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
 ⬝⬝■■■■■■  esc interrupt                below: work, or the folder
"""

import re

from termvisor.agents.adapters.screen_classifier import ScreenClassifier, trim_rows
from termvisor.agents.adapters.screen_rows import remove_scroll_bars
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.model.terminal.screen import Screen

_COMPOSER_EDGE = re.compile(r"\s*╹▀{6,}")
_LEFT_BAR = re.compile(r"\s*┃")
_MESSAGE_END = re.compile(r"\s+▣  \S")
# Wide terminals show a side bar, right of the conversation's scroll bar.
_SIDE_BAR_WIDTH, _MIN_WIDTH_BESIDE_IT = 42, 78


def split_regions(screen: Screen) -> ScreenRegions:
    rows = trim_rows(_cut_side_bar(screen))
    edge = max((index for index, row in enumerate(rows) if _COMPOSER_EDGE.match(row)), default=None)
    if edge is not None:
        composer = _find_barred_rows(rows, edge)
        above = rows[: edge - len(composer)]
        return {
            "composer": [_strip_bar(row) for row in composer],
            "below": [" ".join(" ".join(rows[edge + 1 :]).split())],
            **_split_conversation(trim_rows(above)),
        }
    panel = _find_barred_rows(rows, len(rows))
    return {"panel": [text for row in panel if (text := _strip_bar(row))]} if len(panel) > 2 else {}


def _cut_side_bar(screen: Screen) -> list[str]:
    """Return the rows without scroll bar and side bar.

    Without a side bar, the composer or a row of text extends into its columns.
    """
    start = screen.width - _SIDE_BAR_WIDTH
    if start < _MIN_WIDTH_BESIDE_IT or any(row[start : start + 2].strip() for row in screen.rows):
        return remove_scroll_bars(screen.rows)
    return remove_scroll_bars([row[:start] for row in screen.rows])


def find_panel_rows(screen: Screen) -> tuple[str, ...]:
    """Return the rows of the panel as shown, without blank ones."""
    rows = trim_rows(screen.rows)
    return tuple(row for row in _find_barred_rows(rows, len(rows)) if _strip_bar(row))


def _split_conversation(rows: list[str]) -> dict[str, list[str]]:
    """Return the last row, and the barred block directly above it if that row ends a message."""
    if not rows or not _MESSAGE_END.match(rows[-1]):
        return {"end": rows[-1:]}
    before = trim_rows(rows[:-1])
    return {"end": rows[-1:], "broken": [_strip_bar(row) for row in _find_barred_rows(before, len(before))]}


def _find_barred_rows(rows: list[str], end: int) -> list[str]:
    """Return the consecutive rows with a left bar before index ``end``."""
    start = end
    while start and _LEFT_BAR.match(rows[start - 1]):
        start -= 1
    return rows[start:end]


def _strip_bar(row: str) -> str:
    return row.lstrip().removeprefix("┃").strip()


SCREEN_CLASSIFIER = ScreenClassifier("opencode", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen
