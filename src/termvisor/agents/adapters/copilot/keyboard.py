"""How to speak to Copilot: by its `permissionRequest` hook where it can answer, else by keys that fit one screen."""

import msgspec

from termvisor.agents.adapters.copilot.screen_regions import parts_of
from termvisor.agents.adapters.copilot.screen_rules import look
from termvisor.agents.adapters.dialog_options import Decision, Press, answered, chosen, leaving
from termvisor.agents.adapters.screen_classifier import box_of, shown_rows
from termvisor.model.terminal.screen import Screen

CLEAR = ("C-u",)
SUBMIT = ("Enter",)
QUIT_WORDS = "/exit"
COMPACT_WORDS = "/compact"
HOOK_EVENT = "permissionRequest"
_YES = {"approval_asked": "Yes", "folder_not_trusted": "Yes"}
"""The choice that allows this once and nothing for later."""


def hook_answer(decision: Decision, message: str = "") -> str:
    """What the hook prints so that no dialog appears; to print nothing leaves it to the dialog."""
    told = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    return msgspec.json.encode(told).decode()


def answer(screen: Screen, decision: Decision) -> Press | None:
    return answered(look(screen), box_of(shown_rows(screen.rows)), _YES, decision)


def choose(screen: Screen, label: str) -> Press | None:
    return chosen(look(screen), box_of(shown_rows(screen.rows)), label)


def leave(screen: Screen) -> Press | None:
    return leaving(look(screen), composer(screen), ("C-c", "C-c"))


def composer(screen: Screen) -> str | None:
    rows = parts_of(screen).get("composer")
    return "\n".join(rows).removeprefix("❯").strip() if rows else None


def interrupt(screen: Screen) -> Press | None:
    """One Ctrl-C, while the line below shows work: at rest it would be the first of two that quit."""
    seen = look(screen)
    return Press(keys=("C-c",), rule=seen.rule) if seen.state == "running" else None


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer."""
    written = composer(screen)
    return None if written is None else not written
