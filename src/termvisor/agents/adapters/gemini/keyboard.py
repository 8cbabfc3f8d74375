"""Gemini keyboard: the keys and hook output that answer, interrupt or exit Gemini CLI. Pure.

A hook can deny a tool but not allow it, because the dialog is shown anyway. So an approval needs keys.
"""

import re
from itertools import takewhile

import msgspec

from termvisor.agents.adapters.gemini.screen import classify_screen, split_regions
from termvisor.agents.adapters.keyboard import (
    Decision,
    KeyPress,
    build_answer_press,
    build_exit_press,
    build_option_press,
    read_boxed_dialog,
)
from termvisor.model.terminal.screen import Screen

PLACEHOLDER = re.compile(r"Type your message\b.*")
_QUEUE_HEADING, _QUEUE_INDENT = "  Queued (press ↑ to edit):", "    "
# By rule name, the option that allows just this once.
_ALLOW_LABELS = {"approval_asked": "Allow once"}


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the `BeforeTool` hook that denies a tool; empty for "allow", which it cannot express."""
    return msgspec.json.encode({"decision": "deny", "reason": message}).decode() if decision == "deny" else ""


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    return build_answer_press(classify_screen(screen), *read_boxed_dialog(screen), _ALLOW_LABELS, decision)


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    reading = classify_screen(screen)
    is_dialog = reading.state.startswith("waiting_")
    return build_option_press(reading, *read_boxed_dialog(screen), label) if is_dialog else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c", "C-c"))


def read_composer(screen: Screen) -> str | None:
    rows = split_regions(screen).get("composer")
    if not rows:
        return None
    return "\n".join(row[3:].strip() for row in rows)


def read_queue(screen: Screen) -> str:
    rows = list(screen.rows)
    start = rows.index(_QUEUE_HEADING) + 1 if _QUEUE_HEADING in rows else len(rows)
    return "\n".join(takewhile(lambda row: row.startswith(_QUEUE_INDENT), rows[start:]))


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    reading = classify_screen(screen)
    return KeyPress(keys=("Escape",), rule=reading.rule) if reading.rule_name == "working" else None
