"""Copilot keyboard: the keys and hook output that answer, interrupt or exit Copilot CLI. Pure."""

import msgspec

from termvisor.agents.adapters.copilot.screen_regions import split_regions
from termvisor.agents.adapters.copilot.screen_rules import classify_screen
from termvisor.agents.adapters.dialog_options import (
    Decision,
    KeyPress,
    build_answer_press,
    build_exit_press,
    build_option_press,
)
from termvisor.agents.adapters.screen_classifier import find_bottom_box, trim_rows
from termvisor.model.terminal.screen import Screen

CLEAR_KEYS = ("C-u",)
SUBMIT_KEYS = ("Enter",)
QUIT_COMMAND = "/exit"
COMPACT_COMMAND = "/compact"
HOOK_EVENT = "permissionRequest"
_ALLOW_LABELS = {"approval_asked": "Yes", "folder_not_trusted": "Yes"}
"""By rule name, the option that allows this once and nothing later."""


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the `permissionRequest` hook. An empty output would leave the answer to the dialog."""
    answer = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    return msgspec.json.encode(answer).decode()


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    return build_answer_press(classify_screen(screen), find_bottom_box(trim_rows(screen.rows)), _ALLOW_LABELS, decision)


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    return build_option_press(classify_screen(screen), find_bottom_box(trim_rows(screen.rows)), label)


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c", "C-c"))


def read_composer(screen: Screen) -> str | None:
    rows = split_regions(screen).get("composer")
    return "\n".join(rows).removeprefix("❯").strip() if rows else None


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return Ctrl-C while the agent is working; when idle it would be the first of two that exit."""
    reading = classify_screen(screen)
    return KeyPress(keys=("C-c",), rule=reading.rule) if reading.state == "running" else None


def is_composer_empty(screen: Screen) -> bool | None:
    """Return True if the composer is empty; None if there is no composer."""
    text = read_composer(screen)
    return None if text is None else not text
