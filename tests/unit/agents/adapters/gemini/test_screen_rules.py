"""What Gemini's screens say, and what only looks like it."""

import pytest

from termvisor.agents.adapters.gemini.screen_rules import look
from tests.unit.agents.adapters.gemini.screens import APPROVAL, FAILED, LIMIT, asked, composed
from tests.unit.agents.adapters.saying import box, screen

THINKING = " ⠙ Thinking... (esc to cancel, 1s)                    ? for shortcuts"
QUESTION = (
    "Answer Questions", "", "Which database", "", "● 1.  pg", "      large", "  2.  lite", "",
    "Enter to select · ↑/↓ to navigate · Esc to cancel",
)  # fmt: skip
TRUST = ("Do you trust the files in this folder?", "● 1. Trust folder (api)", "  2. Don't trust")


@pytest.mark.parametrize(
    ("shown", "state", "rule"),
    [
        (composed("▝▜▄     Gemini CLI v0.61.0"), "idle", "at_rest"),
        (composed(" > go", typed=" > half a thought"), "idle", "at_rest"),
        (composed(" > go", "✦ words", status=THINKING), "running", "working"),
        (composed(" > go", status=" ⠦ Executing Hooks: told, told"), "running", "working"),
        (composed(" > go", "✦ words"), "completed", "answered"),
        (composed(" > go", "✦ words", status="  Executing Hook: told       ? for shortcuts"), "completed", "answered"),
        (composed(" > go", "ℹ Request cancelled."), "idle", "cancelled"),
        (composed(" > /compress", "⠇ Compressing chat history"), "running", "compressing"),
        (composed(" > /compress", "✦ Chat history compressed from 9 to 3 tokens."), "idle", "compressed"),
        (composed(" > go", FAILED), "error", "request_failed"),
        (composed(" > go", "✕ [API Error: API key not valid.", "  UNAUTHENTICATED]", FAILED), "error", "login_refused"),
        (composed(" > go", "✕ [API Error: exhausted your daily quota]", FAILED), "error", "usage_limit_reached"),
        (asked(*APPROVAL), "waiting_approval", "approval_asked"),
        (asked(*LIMIT), "waiting_input", "usage_limit_asked"),
        (asked(*TRUST), "waiting_approval", "folder_not_trusted"),
        (screen([f" {row}" for row in box(*TRUST)]), "waiting_approval", "folder_not_trusted"),
        (asked(*QUESTION), "waiting_input", "question_asked"),
        (asked("Select Theme", "● 1. Dark", "  2. Light"), "waiting_input", "choice_open"),
    ],
)
def test_a_screen_is_known(shown, state, rule):
    seen = look(shown)
    assert (seen.state, seen.name) == (state, rule)


@pytest.mark.parametrize(
    "shown",
    [
        screen(""),
        screen("$ gemini --help\nUsage: gemini"),
        screen([*box(*APPROVAL), "$ "]),
        screen(box("Agent powering down. Goodbye!", "Session ID: 1")),
        screen(["Allow execution of [Shell]?", "● 1. Allow once", "  3. No, suggest changes (esc)"]),
    ],
)
def test_what_only_looks_like_one_is_unknown(shown):
    assert look(shown).state == "unknown"


def test_a_dialog_that_the_agent_quotes_is_not_open():
    assert look(composed(" > show me", "✦ It looks so:", *box(*APPROVAL))).state == "idle"
    assert look(composed(" > show me", "✦ Allow execution of [Shell]?", "  1. Allow once")).state == "completed"


def test_an_error_of_an_earlier_turn_is_over():
    assert look(composed(" > go", "✕ [API Error: quota]", FAILED, " > again", "✦ fine")).state == "completed"


def test_flags_stand_beside_the_state():
    assert look(asked(*LIMIT)).flags.usage_limited is True
    assert look(composed(" > go", "✕ [API Error: API key not valid.]", FAILED)).flags.auth_needed is True
    assert look(composed(" > /compress", "⠇ Compressing chat history")).flags.compacting is True
