"""Claude Code keyboard: the keys and hook output that answer, interrupt or exit Claude Code. Pure.

Never a bare Enter: the option that is selected first differs, and in two dialogs it is the denial. A dialog that has
just appeared ignores keys, so the gate checks whether it closed and calls these functions again if not.
"""

import re
from collections.abc import Sequence

import msgspec

from termvisor.agents.adapters.claude_code.screen_regions import parse_layout
from termvisor.agents.adapters.claude_code.screen_rules import classify_screen
from termvisor.agents.adapters.dialog_options import (
    Decision,
    DialogOption,
    KeyPress,
    build_exit_press,
    find_keys_to_option,
)
from termvisor.model.terminal.screen import Screen

CLEAR_KEYS = ("C-u",)
"""Deletes one row of the composer; check whether it is empty afterwards."""
SUBMIT_KEYS = ("Enter",)
"""While the agent is working, a prompt is queued until the end of the turn."""
QUIT_COMMAND = "/exit"
"""Typed like a prompt; the command menu must be open before Enter."""
QUIT_KEYS = ("C-c", "C-c")
"""Both within a second; the first one clears the composer or interrupts the turn."""
HOOK_EVENT = "PermissionRequest"

ALLOW_LABELS: dict[str, str] = {
    "permission": "Yes",
    "trust_folder": "Yes, I trust this folder",
    "use_api_key": "Yes",
}
"""By rule name, the option that allows this once and nothing later. A plan has none: accepting it changes the mode."""
_INTERRUPT_HINT = "esc to interrupt"
_OPTION_ROW = re.compile(r" {0,6}(❯ )? *(?:\d{1,2}\. )?(\S.*)")


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """Return the output of the `PermissionRequest` hook. An empty output would leave the answer to the dialog."""
    fields = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": HOOK_EVENT, "decision": fields}}
    return msgspec.json.encode(answer).decode()


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    reading, rows = classify_screen(screen), parse_layout(screen).dialog
    if reading.state != "waiting_approval" or not rows:
        return None
    if decision == "deny":
        return KeyPress(keys=("Escape",), rule=reading.rule, rows=rows)
    label = ALLOW_LABELS.get(reading.rule_name)
    keys = find_keys_to_option(label, parse_pointed_options(rows)) if label else None
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys else None


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    """Return the keys that choose this option of a question; None if it is not offered exactly once."""
    reading, rows = classify_screen(screen), parse_layout(screen).dialog
    keys = find_keys_to_option(label, parse_pointed_options(rows)) if reading.rule_name == "question" else None
    return KeyPress(keys=keys, rule=reading.rule, rows=rows) if keys else None


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Return the interrupt key while the agent is working.

    When idle, the same key goes back in the conversation, and in a dialog it denies.
    """
    reading = classify_screen(screen)
    rows = (_INTERRUPT_HINT,) if any(_INTERRUPT_HINT in row for row in parse_layout(screen).footer) else ()
    return KeyPress(keys=("Escape",), rule=reading.rule, rows=rows) if reading.state == "running" else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), QUIT_KEYS)


def read_composer(screen: Screen) -> str | None:
    rows = parse_layout(screen).composer
    return None if rows is None else "\n".join(rows).removeprefix("❯").strip()


def is_composer_empty(screen: Screen) -> bool | None:
    """Return True if the composer is empty; None if there is no composer."""
    text = read_composer(screen)
    return None if text is None else not text


def parse_pointed_options(rows: Sequence[str]) -> list[DialogOption]:
    """Return the options of a dialog: the rows around the pointer whose text starts in the same column."""
    selected = next((index for index, row in enumerate(rows) if row.lstrip().startswith("❯ ")), None)
    if selected is None:
        return []
    column = rows[selected].index("❯") + 2
    first = selected
    while first > 0 and _is_option(rows[first - 1], column):
        first -= 1
    options = [row for row in rows[first:] if _is_option(row, column)]
    return [DialogOption(match[2], match[1] is not None) for row in options if (match := _OPTION_ROW.fullmatch(row))]


def _is_option(row: str, column: int) -> bool:
    prefix = row[:column].strip()
    return len(row) > column and prefix in ("", "❯") and not row[column].isspace()
