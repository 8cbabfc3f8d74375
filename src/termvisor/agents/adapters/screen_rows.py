"""Prepare the rows of an agent's screen: without scroll bars and frames; and tell rules and prompt signs apart."""

import re
from collections.abc import Sequence

from termvisor.model.terminal.screen import Screen

_FRAME = re.compile(r"^\s*[│┃║▌▎|](?P<inner>.*?)[│┃║▐▕|]?\s*$")
_SIGN_VARIATION = re.compile("^(\\s{0,3}\\S)[\ufe0e\ufe0f]")
ZERO_WIDTH_BLANKS = "\u200b\u2060\ufeff"
"""Some agents draw one after the text in their composer."""
_SCROLL_BAR = re.compile(r"(?<=.{38}\s\s)([┃█▐║▕▄▀])\s*$")
_LEFT_BAR = re.compile(r"\s*┃(?=\s*[^\s┃█▐║▕▄▀])")
FRAME_ROW = re.compile(r"\s*[╭╰┌└├╞╔╚╹▝▗]?[─━═╌▔▁▀▄╴╶]{6,}.*")
RULE = re.compile(r"\s{0,3}[─━═▔▁]{8,}.*|\s{0,3}[╭╰┌└├][─━═]{4,}.*|[─━═]{2} \S.{0,60} [─━═]{8,}")
PROMPT_SIGN = re.compile(r"\s{0,4}[❯›>!*»▌](?:\s|$)")


def trim_screen_rows(screen: Screen) -> list[str]:
    """Return the rows without scroll bar, blanks at their ends, and blank rows at the end."""
    plain = [row.rstrip(ZERO_WIDTH_BLANKS).rstrip() for row in remove_scroll_bars(screen.rows)]
    rows = [_SIGN_VARIATION.sub(r"\1", row) for row in plain]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def remove_scroll_bars(rows: Sequence[str]) -> list[str]:
    """Return the rows without a scroll bar at their right edge. The left bar of an empty row of input is none."""
    left_bars = {match.end() for row in rows if (match := _LEFT_BAR.match(row))}
    return [_SCROLL_BAR.sub(lambda match: match[0] if match.end(1) in left_bars else "", row) for row in rows]


def strip_frame(row: str) -> str:
    match = _FRAME.match(row)
    return (match["inner"] if match else row).rstrip()
