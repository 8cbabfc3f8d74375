"""How to speak to Copilot: by its `permissionRequest` hook where it can answer, else by keys that fit one screen."""

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
"""The choice that allows this once and nothing for later."""


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """What the hook prints so that no dialog appears; to print nothing leaves it to the dialog."""
    told = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    return msgspec.json.encode(told).decode()


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
    """One Ctrl-C, while the line below shows work: at rest it would be the first of two that quit."""
    seen = classify_screen(screen)
    return KeyPress(keys=("C-c",), rule=seen.rule) if seen.state == "running" else None


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer."""
    written = read_composer(screen)
    return None if written is None else not written
