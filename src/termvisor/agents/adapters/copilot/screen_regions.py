"""The parts of Copilot's screen: the turn, the composer between two rules, the line below it, or a dialog in its place.

 ❯ the last prompt                                04:26 ┃     the turn, with a scroll bar at its right
 ● what it said                                         ┃
──────────────────────────────────────────────────────────
❯
──────────────────────────────────────────────────────────
 ◎ Working · 66 B esc esc interrupt                           below: work, or the modes
"""

import re

from termvisor.agents.adapters.screen_classifier import ScreenRegions, find_bottom_box, trim_rows
from termvisor.model.terminal.screen import Screen

_HORIZONTAL_RULE = re.compile(r"─{10,}")
_PROMPT_ROW, _BLOCK_SIGN = re.compile(r" ❯ \S"), re.compile(r" [●✗✓○$!❯→] ")
_SCROLL_BAR = re.compile(r"\s*┃$")
_MAX_ROWS_BELOW = 2


def split_regions(screen: Screen) -> ScreenRegions:
    rows = trim_rows(screen.rows)
    if box := find_bottom_box(rows):
        return {"dialog": [inner for _, inner in box]}
    rules = [at for at, row in enumerate(rows) if _HORIZONTAL_RULE.fullmatch(row)]
    if len(rules) > 1 and rules[-1] == len(rows) - 1:
        return {"form": [row.strip() for row in rows[rules[-2] + 1 : -1] if row.strip()]}
    if len(rules) < 2 or len(rows) - rules[-1] - 1 > _MAX_ROWS_BELOW or not rows[rules[-2] + 1].startswith("❯"):
        return {}
    said = [shown for row in rows[: rules[-2]] if (shown := _SCROLL_BAR.sub("", row)).strip()]
    turn = max((at for at, row in enumerate(said) if _PROMPT_ROW.match(row)), default=None)
    last = max((at for at, row in enumerate(said) if _BLOCK_SIGN.match(row)), default=0)
    return {
        "below": [" ".join(" ".join(rows[rules[-1] + 1 :]).split())],
        "turn": said[turn + 1 :] if turn is not None else [],
        "last": said[last:],
        "composer": rows[rules[-2] + 1 : rules[-1]],
    }
