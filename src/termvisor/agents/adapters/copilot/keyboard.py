"""Copilot keyboard: the keys and hook output that answer, interrupt or exit Copilot CLI. Pure."""

import re
from itertools import takewhile

import msgspec

from termvisor.agents.adapters.copilot.screen import classify_screen, split_regions
from termvisor.agents.adapters.keyboard import (
    Decision,
    KeyPress,
    build_answer_press,
    build_exit_press,
    build_option_press,
    read_boxed_dialog,
)
from termvisor.model.terminal.screen import Screen

PLACEHOLDER = re.compile(r"Type @ to mention files\b.*", re.DOTALL)
# The row below a prompt that waits for the next step, and the heading of those that wait for the next turn.
_PENDING_ROW, _QUEUE_HEADING = re.compile(r"\s*└ \[pending\b"), re.compile(r"Queued \(\d+\)")
_PROMPT_ROW = re.compile(r" ❯ \S")
# By rule name, the option that allows just this once.
_ALLOW_LABELS = {"approval_asked": "Yes", "folder_not_trusted": "Yes"}


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the `permissionRequest` hook. Empty output would leave the answer to the dialog."""
    answer = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    return msgspec.json.encode(answer).decode()


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
    return "\n".join(rows).removeprefix("❯").strip() if rows else None


def read_queue(screen: Screen) -> str:
    rows = screen.rows
    queued: list[str] = []
    for index, row in enumerate(rows):
        if _PENDING_ROW.match(row):
            start = max((at for at in range(index) if _PROMPT_ROW.match(rows[at])), default=index)
            queued += rows[start:index]
        elif _QUEUE_HEADING.match(row):
            queued += takewhile(lambda below: below.startswith((" └ ", "   ")), rows[index + 1 :])
    return "\n".join(row.strip().removeprefix("└") for row in queued)


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return Ctrl-C while the agent is working. When idle, pressing it twice would exit."""
    # Not Escape, which must be pressed twice: Copilot ignores two at once, and two that are 0.7 s apart.
    reading = classify_screen(screen)
    return KeyPress(keys=("C-c",), rule=reading.rule) if reading.state == "running" else None
