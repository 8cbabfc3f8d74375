"""The parts of Copilot's screen: the turn, the composer between two rules, the line below it, or a dialog in its place.

 ❯ the last prompt                                04:26 ┃     the turn, with a scroll bar at its right
 ● what it said                                         ┃
──────────────────────────────────────────────────────────
❯
──────────────────────────────────────────────────────────
 ◎ Working · 66 B esc esc interrupt                           below: work, or the modes
"""

import re

from termvisor.agents.adapters.screen_classifier import Parts, box_of, shown_rows
from termvisor.model.terminal.screen import Screen

_RULE = re.compile(r"─{10,}")
_PROMPT, _SIGN = re.compile(r" ❯ \S"), re.compile(r" [●✗✓○$!❯→] ")
_BAR = re.compile(r"\s*┃$")
_BELOW = 2


def parts_of(screen: Screen) -> Parts:
    rows = shown_rows(screen.rows)
    if box := box_of(rows):
        return {"dialog": [inner for _, inner in box]}
    rules = [at for at, row in enumerate(rows) if _RULE.fullmatch(row)]
    if len(rules) > 1 and rules[-1] == len(rows) - 1:
        return {"form": [row.strip() for row in rows[rules[-2] + 1 : -1] if row.strip()]}
    if len(rules) < 2 or len(rows) - rules[-1] - 1 > _BELOW or not rows[rules[-2] + 1].startswith("❯"):
        return {}
    said = [shown for row in rows[: rules[-2]] if (shown := _BAR.sub("", row)).strip()]
    turn = max((at for at, row in enumerate(said) if _PROMPT.match(row)), default=None)
    last = max((at for at, row in enumerate(said) if _SIGN.match(row)), default=0)
    return {
        "below": [" ".join(" ".join(rows[rules[-1] + 1 :]).split())],
        "turn": said[turn + 1 :] if turn is not None else [],
        "last": said[last:],
        "composer": rows[rules[-2] + 1 : rules[-1]],
    }
