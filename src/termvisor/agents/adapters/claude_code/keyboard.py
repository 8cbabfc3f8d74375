"""How to speak to Claude Code: by its hooks where they can answer, by keys where they cannot. Values only.

A key is meant for one screen: `Press` carries the rows that must still be there when it is pressed. No answer is ever
a bare Enter: what is pointed at first differs, and in two dialogs it is the refusal. A dialog that has only just
appeared swallows keys, so whoever presses them looks whether it went away and, if not, asks here again.
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
"""Deletes the row that is being written; look whether the composer is empty then."""
SUBMIT_KEYS = ("Enter",)
"""While it works a prompt is queued and read when the turn is over."""
QUIT_COMMAND = "/exit"
"""Typed like a prompt; the menu of commands must have opened before Enter."""
QUIT_KEYS = ("C-c", "C-c")
"""Both within a second; the first one empties the composer or stops the turn."""
HOOK_EVENT = "PermissionRequest"

ALLOW_LABELS: dict[str, str] = {
    "permission": "Yes",
    "trust_folder": "Yes, I trust this folder",
    "use_api_key": "Yes",
}
"""The one option of each dialog that allows this once and nothing for later. A plan has none: it changes the mode."""
_INTERRUPT_HINT = "esc to interrupt"
_OPTION_ROW = re.compile(r" {0,6}(❯ )? *(?:\d{1,2}\. )?(\S.*)")


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """What a `PermissionRequest` hook prints so that no dialog appears; to print nothing leaves it to the dialog."""
    told = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": HOOK_EVENT, "decision": told}}
    return msgspec.json.encode(answer).decode()


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    """The keys that allow, this once, or refuse what the dialog asks; None where that cannot be said surely."""
    seen, rows = classify_screen(screen), parse_layout(screen).dialog
    if seen.state != "waiting_approval" or not rows:
        return None
    if decision == "deny":
        return KeyPress(keys=("Escape",), rule=seen.rule, rows=rows)
    wanted = ALLOW_LABELS.get(seen.rule_name)
    keys = find_keys_to_option(wanted, parse_pointed_options(rows)) if wanted else None
    return KeyPress(keys=keys, rule=seen.rule, rows=rows) if keys else None


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    """The keys that pick this very option of a question; None where it is not offered, or more than once."""
    seen, rows = classify_screen(screen), parse_layout(screen).dialog
    keys = find_keys_to_option(label, parse_pointed_options(rows)) if seen.rule_name == "question" else None
    return KeyPress(keys=keys, rule=seen.rule, rows=rows) if keys else None


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Only while it works: at rest the same key goes back in the conversation, and in a dialog it refuses."""
    seen = classify_screen(screen)
    shown = tuple(word for word in (_INTERRUPT_HINT,) if any(word in row for row in parse_layout(screen).footer))
    return KeyPress(keys=("Escape",), rule=seen.rule, rows=shown) if seen.state == "running" else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), QUIT_KEYS)


def read_composer(screen: Screen) -> str | None:
    rows = parse_layout(screen).composer
    return None if rows is None else "\n".join(rows).removeprefix("❯").strip()


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer."""
    written = read_composer(screen)
    return None if written is None else not written


def parse_pointed_options(rows: Sequence[str]) -> list[DialogOption]:
    """Those from the one that is pointed at upwards and downwards, as far as they stand in one column."""
    pointed = next((number for number, row in enumerate(rows) if row.lstrip().startswith("❯ ")), None)
    if pointed is None:
        return []
    column = rows[pointed].index("❯") + 2
    first = pointed
    while first > 0 and _is_option(rows[first - 1], column):
        first -= 1
    found = [row for row in rows[first:] if _is_option(row, column)]
    return [DialogOption(match[2], match[1] is not None) for row in found if (match := _OPTION_ROW.fullmatch(row))]


def _is_option(row: str, column: int) -> bool:
    lead = row[:column].strip()
    return len(row) > column and lead in ("", "❯") and not row[column].isspace()
