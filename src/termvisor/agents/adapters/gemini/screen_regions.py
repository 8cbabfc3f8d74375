"""The parts of Gemini's screen: the turn, the line that shows work, the composer below a rule, or a box in its place.

 > the last prompt
✦ what it said                     the turn; its last block begins at the last sign
 ⠙ Thinking... (esc to cancel, 1s)              ? for shortcuts
──────────────────────────────────────────────────────────────
 Shift+Tab to accept edits                 1 Background process
 >   Type your message or @path/to/file
"""

import re

from termvisor.agents.adapters.screen_classifier import ScreenRegions, find_bottom_box, trim_rows
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
    rule = next((at for at in range(len(rows) - 1, -1, -1) if _HORIZONTAL_RULE.fullmatch(rows[at])), None)
    if rule is None or not any(_COMPOSER_ROW.match(row) for row in rows[rule + 1 :]):
        return {}
    above = [row for row in rows[:rule] if row]
    status = len(above)
    while status and _STATUS_ROW.match(above[status - 1]):
        status -= 1
    said = above[:status]
    turn = max((at for at, row in enumerate(said) if _PROMPT_ROW.match(row)), default=None)
    last = max((at for at, row in enumerate(said) if _BLOCK_SIGN.match(row)), default=0)
    return {
        "work": above[status:],
        "turn": said[turn + 1 :] if turn is not None else [],
        "last": said[max(last, turn + 1 if turn is not None else 0) :],
        "before": said if turn is None else [],
        "modes": rows[rule + 1 : rule + 2],
        "composer": [row for row in rows[rule + 1 :] if _COMPOSER_ROW.match(row)],
    }
