"""opencode keyboard: the keys that answer, interrupt or exit opencode where its server cannot be used. Pure.

Only a background of its own marks the selected option of a dialog. If another option is selected between the capture
and the key, Enter rejects the request, or opens a second dialog that asks whether to allow it always.
"""

import re

from termvisor.agents.adapters.keyboard import Decision, KeyPress, build_exit_press
from termvisor.agents.adapters.opencode.screen import classify_screen, find_panel_rows, split_regions
from termvisor.model.terminal.screen import Screen

PLACEHOLDER = re.compile(r"Ask anything(?:…|\.\.\.).*")
_BARRED_ROW = re.compile(r"\s*┃(.*)")
_QUEUED_BADGE = "QUEUED"
_OPTIONS = ("Allow once", "Allow always", "Reject")
_OPTIONS_ROW = re.compile(r"\s*┃\s+" + r"\s+".join(_OPTIONS) + r"\b")
# opencode must have processed the first key before the second one arrives.
_INTERRUPT_KEY_PAUSE_S = 0.3


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    """Return the keys that deny or allow once. None for "allow" unless a colour marks exactly one option."""
    reading, rows = classify_screen(screen), find_panel_rows(screen)
    if reading.rule_name != "permission_asked" or not rows:
        return None
    keys = ("Escape",) if decision == "deny" else _find_allow_keys(screen)
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys else None


def _find_allow_keys(screen: Screen) -> tuple[str, ...] | None:
    options_rows = [number for number, row in enumerate(screen.rows) if _OPTIONS_ROW.match(row)]
    selected = [text for number, text in screen.highlights if number in options_rows]
    if len(options_rows) != 1 or len(selected) != 1 or selected[0] not in _OPTIONS:
        return None
    return (*("Left",) * _OPTIONS.index(selected[0]), "Enter")


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return Escape twice, because the first only arms the second; once if it is already armed."""
    reading = classify_screen(screen)
    is_armed = "esc again to interrupt" in " ".join(split_regions(screen).get("below", ()))
    keys = ("Escape",) if is_armed else ("Escape", "Escape")
    is_working = reading.state == "running"
    return KeyPress(keys=keys, rule=reading.rule, pause_s=_INTERRUPT_KEY_PAUSE_S) if is_working else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c",))


def read_composer(screen: Screen) -> str | None:
    rows = split_regions(screen).get("composer")
    # The last row of the composer shows the model.
    return "\n".join(rows[:-1]).strip() if rows and len(rows) > 1 else None


def read_queue(screen: Screen) -> str:
    """Return the rows of the messages that carry the badge of the queue."""
    texts = [match[1].strip() if (match := _BARRED_ROW.match(row)) else "" for row in screen.rows]
    messages = "\n".join(texts).split("\n\n")
    return "\n".join(message for message in messages if message.endswith(_QUEUED_BADGE))
