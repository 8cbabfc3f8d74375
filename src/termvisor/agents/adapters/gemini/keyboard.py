"""How to speak to Gemini: by keys that fit one screen, and by its hooks where those can refuse. Values only.

A hook can deny a tool, but it cannot allow one: the dialog comes all the same. So an approval is typed.
"""

import msgspec

from termvisor.agents.adapters.dialog_options import Decision, Press, answered, chosen, leaving
from termvisor.agents.adapters.gemini.screen_regions import parts_of
from termvisor.agents.adapters.gemini.screen_rules import look
from termvisor.agents.adapters.screen_classifier import box_of, shown_rows
from termvisor.model.terminal.screen import Screen

CLEAR = ("C-u",)
"""Empties the composer's line."""
SUBMIT = ("Enter",)
QUIT_WORDS = "/quit"
"""Typed like a prompt; the menu of commands must have opened before Enter."""
COMPACT_WORDS = "/compress"
HOOK_EVENT = "BeforeTool"
_EMPTY = (" >   Type your message", " >")
_YES = {"approval_asked": "Allow once"}
"""The choice that allows this once and nothing for later."""


def hook_answer(decision: Decision, message: str = "") -> str:
    """What a `BeforeTool` hook prints to refuse a tool. It cannot allow one: nothing leaves it to the dialog."""
    return msgspec.json.encode({"decision": "deny", "reason": message}).decode() if decision == "deny" else ""


def answer(screen: Screen, decision: Decision) -> Press | None:
    return answered(look(screen), box_of(shown_rows(screen.rows)), _YES, decision)


def choose(screen: Screen, label: str) -> Press | None:
    return chosen(look(screen), box_of(shown_rows(screen.rows)), label)


def leave(screen: Screen) -> Press | None:
    return leaving(look(screen), composer(screen), ("C-c", "C-c"))


def composer(screen: Screen) -> str | None:
    rows = parts_of(screen).get("composer")
    if not rows:
        return None
    return "" if is_composer_empty(screen) else "\n".join(row[3:].strip() for row in rows)


def interrupt(screen: Screen) -> Press | None:
    """Only while a line shows work."""
    seen = look(screen)
    return Press(keys=("Escape",), rule=seen.rule) if seen.name == "working" else None


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer."""
    rows = parts_of(screen).get("composer")
    return rows[0].startswith(_EMPTY[0]) or rows[0].rstrip() == _EMPTY[1] if rows else None
