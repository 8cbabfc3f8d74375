"""Codex keyboard: the keys and hook output that answer, interrupt or exit Codex. Pure.

Keys are a last resort and valid only while the screen shows the dialog they were made for. Never a bare Enter: after a
usage limit, a dialog opens whose first option switches the model.
"""

import re

from termvisor.agents.adapters.codex.screen import classify_screen, parse_layout
from termvisor.agents.adapters.keyboard import (
    Decision,
    KeyPress,
    build_exit_press,
    build_option_press,
    format_permission_hook_answer,
    parse_numbered_options,
)
from termvisor.model.terminal.screen import Screen

PLACEHOLDER = re.compile("Ask Codex to do anything")
# The option for each decision and its key. Never Enter, which takes whatever option is selected.
_ANSWERS: dict[Decision, tuple[str, str]] = {
    "allow": ("Yes, proceed (y)", "y"),
    "deny": ("No, and tell Codex what to do differently (esc)", "Escape"),
}
format_hook_answer = format_permission_hook_answer


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    reading, rows = classify_screen(screen), parse_layout(screen.rows).dialog
    label, key = _ANSWERS[decision]
    is_offered = reading.rule_name == "approval_asked" and label in " ".join(" ".join(rows).split())
    return KeyPress(keys=(key,), rule=reading.rule, rows=rows) if is_offered else None


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    reading, rows = classify_screen(screen), parse_layout(screen.rows).dialog
    is_dialog = reading.state.startswith("waiting_") or reading.rule_name == "limit_dialog"
    return build_option_press(reading, rows, parse_numbered_options(rows), label) if is_dialog else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    """Return the key that exits Codex at once. A turn on its shared server continues."""
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c",))


def read_composer(screen: Screen) -> str | None:
    return parse_layout(screen.rows).composer


def read_queue(screen: Screen) -> str:
    return "\n".join(row.strip().removeprefix("↳") for row in parse_layout(screen.rows).queue)


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return the interrupt key while Codex is working. When idle, the same key goes back in the conversation."""
    reading = classify_screen(screen)
    is_working = bool(parse_layout(screen.rows).work)
    return KeyPress(keys=("Escape",), rule=reading.rule, rows=("esc to interrupt",)) if is_working else None
