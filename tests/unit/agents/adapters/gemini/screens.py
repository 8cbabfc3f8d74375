"""Builders of Gemini screens."""

from tests.unit.agents.adapters.adapter_inputs import HORIZONTAL_RULE, build_box, build_screen

SHORTCUTS = " " * 60 + "? for shortcuts"
FOOTER = (" workspace (/directory)   sandbox      /model", " /home/you/api            no sandbox   gemini-2.5-flash")
EMPTY = " >   Type your message or @path/to/file"
APPROVAL = (
    "? Shell  touch x",
    "Allow execution of [Shell]?",
    "",
    "● 1. Allow once",
    "  2. Allow for this session",
    "  3. No, suggest changes (esc)",
)
LIMIT = (
    "",
    "Usage limit reached for gemini-2.5-flash.",
    "/model to switch models.",
    "",
    "● 1. Keep trying",
    "  2. Stop",
)
FAILED = "ℹ This request failed. Press F12 for diagnostics"


def build_composer_screen(*conversation: str, status: str = SHORTCUTS, typed: str = EMPTY):
    """Build a screen with the conversation and the composer below it."""
    return build_screen([*conversation, "", status, HORIZONTAL_RULE, " Shift+Tab to accept edits", typed, *FOOTER])


def build_dialog_screen(*rows: str):
    return build_screen([" > a prompt", "", *build_box(*rows)])
