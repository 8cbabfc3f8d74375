"""opencode keyboard: the keys that deny, interrupt or exit opencode where its server cannot be used. Pure."""

import re

from termvisor.agents.adapters.keyboard import Decision, KeyPress, build_exit_press
from termvisor.agents.adapters.opencode.screen import classify_screen, find_panel_rows, split_regions
from termvisor.model.terminal.screen import Screen

_EMPTY_COMPOSER_ROW = re.compile(r"Ask anything….*|")
# opencode must have processed the first key before the second one arrives.
_INTERRUPT_KEY_PAUSE_S = 0.3


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    """Return the key that denies. None for "allow": the panel marks the selected option only by colour."""
    reading, rows = classify_screen(screen), find_panel_rows(screen)
    if reading.rule_name != "permission_asked" or not rows or decision == "allow":
        return None
    return KeyPress(keys=("Escape",), rule=reading.rule, rows=rows)


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
    if not rows:
        return None
    # The last row of the composer shows the model.
    is_empty = all(_EMPTY_COMPOSER_ROW.fullmatch(row) for row in rows[:-1])
    return "" if is_empty else "\n".join(rows[:-1]).strip()
