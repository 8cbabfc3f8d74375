"""Split Copilot screens into regions: the turn, the composer between two rules, the rows below, or a dialog instead.

 ❯ the last prompt                                04:26 ┃     the turn, with a scroll bar at its right
 ● the answer                                           ┃
──────────────────────────────────────────────────────────
❯
──────────────────────────────────────────────────────────
 ◎ Working · 66 B esc esc interrupt                           below: work, or the modes
"""

import re

from termvisor.agents.adapters.screen_classifier import ScreenClassifier, find_bottom_box, trim_rows
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.model.terminal.screen import Screen

_HORIZONTAL_RULE = re.compile(r"─{10,}")
_PROMPT_ROW, _BLOCK_SIGN = re.compile(r" ❯ \S"), re.compile(r" [●✗✓○$!❯→] ")
_SCROLL_BAR = re.compile(r"\s*┃$")
_MAX_ROWS_BELOW = 2


def split_regions(screen: Screen) -> ScreenRegions:
    rows = trim_rows(screen.rows)
    if box := find_bottom_box(rows):
        return {"dialog": [inner for _, inner in box]}
    rules = [index for index, row in enumerate(rows) if _HORIZONTAL_RULE.fullmatch(row)]
    if len(rules) > 1 and rules[-1] == len(rows) - 1:
        return {"form": [row.strip() for row in rows[rules[-2] + 1 : -1] if row.strip()]}
    if len(rules) < 2 or len(rows) - rules[-1] - 1 > _MAX_ROWS_BELOW or not rows[rules[-2] + 1].startswith("❯"):
        return {}
    conversation = [text for row in rows[: rules[-2]] if (text := _SCROLL_BAR.sub("", row)).strip()]
    prompt = max((index for index, row in enumerate(conversation) if _PROMPT_ROW.match(row)), default=None)
    last = max((index for index, row in enumerate(conversation) if _BLOCK_SIGN.match(row)), default=0)
    return {
        "below": [" ".join(" ".join(rows[rules[-1] + 1 :]).split())],
        "turn": conversation[prompt + 1 :] if prompt is not None else [],
        "last": conversation[last:],
        "composer": rows[rules[-2] + 1 : rules[-1]],
    }


SCREEN_CLASSIFIER = ScreenClassifier("copilot", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen
