"""Gemini keyboard: the keys and hook output that answer, interrupt or exit Gemini CLI. Pure.

A hook can deny a tool but not allow it: the dialog is shown all the same. So an approval needs keys.
"""

import msgspec

from termvisor.agents.adapters.dialog_options import (
    Decision,
    KeyPress,
    build_answer_press,
    build_exit_press,
    build_option_press,
)
from termvisor.agents.adapters.gemini.screen_regions import split_regions
from termvisor.agents.adapters.gemini.screen_rules import classify_screen
from termvisor.agents.adapters.screen_classifier import find_bottom_box, trim_rows
from termvisor.model.terminal.screen import Screen

CLEAR_KEYS = ("C-u",)
"""Deletes one row of the composer."""
SUBMIT_KEYS = ("Enter",)
QUIT_COMMAND = "/quit"
"""Typed like a prompt; the command menu must be open before Enter."""
COMPACT_COMMAND = "/compress"
HOOK_EVENT = "BeforeTool"
_EMPTY_COMPOSER_ROWS = (" >   Type your message", " >")
_ALLOW_LABELS = {"approval_asked": "Allow once"}
"""By rule name, the option that allows this once and nothing later."""


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the `BeforeTool` hook that denies a tool; empty for "allow", which it cannot express."""
    return msgspec.json.encode({"decision": "deny", "reason": message}).decode() if decision == "deny" else ""


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    return build_answer_press(classify_screen(screen), find_bottom_box(trim_rows(screen.rows)), _ALLOW_LABELS, decision)


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    return build_option_press(classify_screen(screen), find_bottom_box(trim_rows(screen.rows)), label)


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c", "C-c"))


def read_composer(screen: Screen) -> str | None:
    rows = split_regions(screen).get("composer")
    if not rows:
        return None
    return "" if is_composer_empty(screen) else "\n".join(row[3:].strip() for row in rows)


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    reading = classify_screen(screen)
    return KeyPress(keys=("Escape",), rule=reading.rule) if reading.rule_name == "working" else None


def is_composer_empty(screen: Screen) -> bool | None:
    """Return True if the composer is empty; None if there is no composer."""
    rows = split_regions(screen).get("composer")
    return rows[0].startswith(_EMPTY_COMPOSER_ROWS[0]) or rows[0].rstrip() == _EMPTY_COMPOSER_ROWS[1] if rows else None
