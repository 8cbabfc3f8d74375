"""How to speak to Claude Code: by its hooks where they can answer, by keys where they cannot. Values only.

A key is meant for one screen: `Press` carries the rows that must still be there when it is pressed. No answer is ever
a bare Enter: what is pointed at first differs, and in two dialogs it is the refusal. A dialog that has only just
appeared swallows keys, so whoever presses them looks whether it went away and, if not, asks here again.
"""

import re
from collections.abc import Sequence

import msgspec

from termvisor.agents.adapters.claude_code.screen_regions import layout
from termvisor.agents.adapters.claude_code.screen_rules import look
from termvisor.agents.adapters.dialog_options import Choice, Decision, Press, leaving, way_to
from termvisor.model.terminal.screen import Screen

CLEAR = ("C-u",)
"""Deletes the row that is being written; look whether the composer is empty then."""
SUBMIT = ("Enter",)
"""While it works a prompt is queued and read when the turn is over."""
QUIT_WORDS = "/exit"
"""Typed like a prompt; the menu of commands must have opened before Enter."""
QUIT_KEYS = ("C-c", "C-c")
"""Both within a second; the first one empties the composer or stops the turn."""
HOOK_EVENT = "PermissionRequest"

YES: dict[str, str] = {
    "permission": "Yes",
    "trust_folder": "Yes, I trust this folder",
    "use_api_key": "Yes",
}
"""The one option of each dialog that allows this once and nothing for later. A plan has none: it changes the mode."""
_WORKS = "esc to interrupt"
_OPTION = re.compile(r" {0,6}(❯ )? *(?:\d{1,2}\. )?(\S.*)")


def hook_answer(decision: Decision, message: str = "") -> str:
    """What a `PermissionRequest` hook prints so that no dialog appears; to print nothing leaves it to the dialog."""
    told = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": HOOK_EVENT, "decision": told}}
    return msgspec.json.encode(answer).decode()


def answer(screen: Screen, decision: Decision) -> Press | None:
    """The keys that allow, this once, or refuse what the dialog asks; None where that cannot be said surely."""
    seen, rows = look(screen), layout(screen).dialog
    if seen.state != "waiting_approval" or not rows:
        return None
    if decision == "deny":
        return Press(keys=("Escape",), rule=seen.rule, rows=rows)
    wanted = YES.get(seen.name)
    keys = way_to(wanted, options(rows)) if wanted else None
    return Press(keys=keys, rule=seen.rule, rows=rows) if keys else None


def choose(screen: Screen, label: str) -> Press | None:
    """The keys that pick this very option of a question; None where it is not offered, or more than once."""
    seen, rows = look(screen), layout(screen).dialog
    keys = way_to(label, options(rows)) if seen.name == "question" else None
    return Press(keys=keys, rule=seen.rule, rows=rows) if keys else None


def interrupt(screen: Screen) -> Press | None:
    """Only while it works: at rest the same key goes back in the conversation, and in a dialog it refuses."""
    seen = look(screen)
    shown = tuple(word for word in (_WORKS,) if any(word in row for row in layout(screen).footer))
    return Press(keys=("Escape",), rule=seen.rule, rows=shown) if seen.state == "running" else None


def leave(screen: Screen) -> Press | None:
    return leaving(look(screen), composer(screen), QUIT_KEYS)


def composer(screen: Screen) -> str | None:
    rows = layout(screen).composer
    return None if rows is None else "\n".join(rows).removeprefix("❯").strip()


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer."""
    written = composer(screen)
    return None if written is None else not written


def options(rows: Sequence[str]) -> list[Choice]:
    """Those from the one that is pointed at upwards and downwards, as far as they stand in one column."""
    pointed = next((number for number, row in enumerate(rows) if row.lstrip().startswith("❯ ")), None)
    if pointed is None:
        return []
    column = rows[pointed].index("❯") + 2
    first = pointed
    while first > 0 and _is_option(rows[first - 1], column):
        first -= 1
    found = [row for row in rows[first:] if _is_option(row, column)]
    return [Choice(match[2], match[1] is not None) for row in found if (match := _OPTION.fullmatch(row))]


def _is_option(row: str, column: int) -> bool:
    lead = row[:column].strip()
    return len(row) > column and lead in ("", "❯") and not row[column].isspace()
