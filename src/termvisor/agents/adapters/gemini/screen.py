"""Split Gemini screens into regions: the turn, the work row, the composer below a rule, or a boxed dialog in its place.

 > the last prompt
✦ the answer                       the turn; its last block begins at the last sign
 ⠙ Thinking... (esc to cancel, 1s)              ? for shortcuts
──────────────────────────────────────────────────────────────
 Shift+Tab to accept edits                 1 Background process
 >   Type your message or @path/to/file
"""

import re

from termvisor.agents.adapters.error_classifier import find_any_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, find_bottom_box, trim_rows
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.model.terminal.screen import Screen

_HORIZONTAL_RULE = re.compile(r"─{10,}")
_COMPOSER_ROW = re.compile(r" [>!*] ")
_PROMPT_ROW = re.compile(r" > \S")
_BLOCK_SIGN = re.compile(r"[✦ℹ✕⚠✓╭⠀-⣿]")
_STATUS_ROW = re.compile(r" [⠀-⣿] \S|  Executing Hooks?: |\s{20,}\? for shortcuts$|.*\s{6,}\? for shortcuts$")


def split_regions(screen: Screen) -> ScreenRegions:
    rows = trim_rows(screen.rows)
    if box := find_bottom_box(rows):
        return {"dialog": [inner for _, inner in box]}
    rule = next((index for index in range(len(rows) - 1, -1, -1) if _HORIZONTAL_RULE.fullmatch(rows[index])), None)
    if rule is None or not any(_COMPOSER_ROW.match(row) for row in rows[rule + 1 :]):
        return {}
    above = [row for row in rows[:rule] if row]
    status = len(above)
    while status and _STATUS_ROW.match(above[status - 1]):
        status -= 1
    conversation = above[:status]
    prompt = max((index for index, row in enumerate(conversation) if _PROMPT_ROW.match(row)), default=None)
    last = max((index for index, row in enumerate(conversation) if _BLOCK_SIGN.match(row)), default=0)
    return {
        "work": above[status:],
        "turn": conversation[prompt + 1 :] if prompt is not None else [],
        "last": conversation[max(last, prompt + 1 if prompt is not None else 0) :],
        "before": conversation if prompt is None else [],
        "modes": rows[rule + 1 : rule + 2],
        "composer": [row for row in rows[rule + 1 :] if _COMPOSER_ROW.match(row)],
    }


SCREEN_CLASSIFIER = ScreenClassifier("gemini", split_regions, reset_time_finder=find_any_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen
