"""Codex keyboard: the keys and hook output that answer, interrupt or exit Codex. Pure.

Keys are a last resort, and only valid while the screen shows the dialog they were made for. Never a bare Enter: after a
usage limit a dialog opens whose first option switches the model.
"""

import msgspec

from termvisor.agents.adapters.codex.screen_regions import parse_layout
from termvisor.agents.adapters.codex.screen_rules import classify_screen
from termvisor.agents.adapters.dialog_options import (
    Decision,
    KeyPress,
    build_exit_press,
    find_keys_to_option,
    parse_numbered_options,
)
from termvisor.model.terminal.screen import Screen

_COMPOSER_PLACEHOLDER = "Ask Codex to do anything"


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the `PermissionRequest` hook. An empty output would leave the answer to the dialog."""
    fields = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": fields}}
    return msgspec.json.encode(answer).decode()


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    return find_approve_keys(screen) if decision == "allow" else find_deny_keys(screen)


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    reading, rows = classify_screen(screen), parse_layout(screen.rows).dialog
    is_dialog = reading.state.startswith("waiting_") or reading.rule_name == "limit_dialog"
    keys = find_keys_to_option(label, parse_numbered_options(rows)) if is_dialog else None
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    """Return the key that exits Codex at once; a turn on its shared server continues."""
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c",))


def read_composer(screen: Screen) -> str | None:
    text = parse_layout(screen.rows).composer
    return "" if text == _COMPOSER_PLACEHOLDER else text


def find_approve_keys(screen: Screen) -> KeyPress | None:
    """Return the letter of the approving option; never Enter, which takes whatever option is selected."""
    return _build_dialog_press(screen, "Yes, proceed (y)", "y")


def find_deny_keys(screen: Screen) -> KeyPress | None:
    return _build_dialog_press(screen, "No, and tell Codex what to do differently (esc)", "Escape")


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return the interrupt key while Codex is working; when idle, the same key goes back in the conversation."""
    reading = classify_screen(screen)
    is_working = bool(parse_layout(screen.rows).work)
    return KeyPress(keys=("Escape",), rule=reading.rule, rows=("esc to interrupt",)) if is_working else None


def _build_dialog_press(screen: Screen, label: str, key: str) -> KeyPress | None:
    reading, rows = classify_screen(screen), parse_layout(screen.rows).dialog
    is_offered = reading.rule_name == "approval_asked" and label in " ".join(" ".join(rows).split())
    return KeyPress(keys=(key,), rule=reading.rule, rows=rows) if is_offered else None
