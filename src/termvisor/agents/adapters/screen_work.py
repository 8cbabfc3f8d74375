"""Find the row that shows an agent's work: it counts time, spins, or names the key that stops the work."""

import re
from collections.abc import Sequence

from termvisor.agents.adapters.screen_rows import FRAME_ROW, RULE

_STOP_KEY = re.compile(
    r"(?i)\b(?:esc|ctrl[+-]c)(?:ape)?(?: (?:esc|again))?(?: to)? (?:interrupt|cancel|stop|abort|edit prompt)"
)
_STOP_KEY_IN_BRACKETS = re.compile(r"(?i)\s{0,4}\W .*\(esc to (?:interrupt|cancel|stop)\b")
_ELAPSED = re.compile(r"\b\d+(?:\.\d+)?s\b")
_BRAILLE_SPINNER = re.compile(r"\s{0,4}[⠁-⣿] \S")
SPINNER = re.compile(r"\s{0,4}(?:[⠀-⣿]|[·✢✳✶✻✽∗*◐◓◑◒◌] ?)\s?\S.{0,80}?(?:…|\.\.\.)")
_WORK_BAR = re.compile(r"[■⬝▰▱█░]{5,}")
_MAX_WORK_DISTANCE = 6


def find_work(rows: Sequence[str], start: int, end: int) -> tuple[str, Sequence[str]]:
    """Return the row that shows work, and the rows above composer and work."""
    # Modes may stand between the composer and the rule that separates it from the conversation.
    rules = [index for index in range(max(0, start - 4), start) if RULE.fullmatch(rows[index])]
    top = rules[0] if rules else start
    while top and (not rows[top - 1] or FRAME_ROW.fullmatch(rows[top - 1])):
        top -= 1
    footer = " ".join(" ".join(rows[end:]).split())
    if _STOP_KEY.search(footer) and not _is_hint_only(footer):
        return footer, rows[:top]
    seen = 0
    for index in range(top - 1, -1, -1):
        row = rows[index]
        if not row:
            continue
        seen += 1
        if _is_work(row):
            return row.strip(), rows[:index]
        if seen >= _MAX_WORK_DISTANCE:
            break
    return "", rows[:top]


def _is_work(row: str) -> bool:
    if SPINNER.match(row) or _BRAILLE_SPINNER.match(row):
        return True
    return bool(_STOP_KEY.search(row)) and bool(
        _ELAPSED.search(row) or _WORK_BAR.search(row) or _STOP_KEY_IN_BRACKETS.search(row)
    )


def _is_hint_only(row: str) -> bool:
    """Return True for a footer that explains the key in general, without work."""
    return bool(re.search(r"(?i)\bctrl[+-]c\b.*\bexit\b|twice|double", row))
