"""What Copilot's screens say, and what only looks like it."""

import pytest

from termvisor.agents.adapters.copilot.screen_rules import look
from tests.unit.agents.adapters.copilot.screens import APPROVAL, FORM, WORK, asked, composed
from tests.unit.agents.adapters.saying import box, screen

TRUST = ("Confirm folder trust", "/home/you/api", "Do you trust the files in this folder?", *APPROVAL[3:])
LOGIN = " ✗ Authentication failed with provider (HTTP 401)."


@pytest.mark.parametrize(
    ("shown", "state", "rule"),
    [
        (composed(" ● Tip: /app"), "idle", "at_rest"),
        (composed(" ❯ go", " ● done", " ● Tip: /help", "   └ Show help"), "idle", "at_rest"),
        (composed(typed="half a thought"), "idle", "at_rest"),
        (composed(below=" ctrl+c again to exit       model"), "idle", "about_to_leave"),
        (composed(" ❯ go", " ● words", below=WORK), "running", "working"),
        (composed(" ❯ go", below=" ◉ Working esc esc edit prompt    model"), "running", "working"),
        (composed(" ❯ go", below=" ○ Working · 3 B esc again to interrupt"), "running", "working"),
        (composed(" ❯ go", " ● Request failed due to an error. Retrying...", below=WORK), "running", "retrying"),
        (composed(" ❯ go", below=" ◎ Compacting conversation esc esc interrupt"), "running", "compacting"),
        (composed(" ❯ go", " ● words"), "completed", "answered"),
        (composed(" ❯ go", " ● Operation cancelled by user"), "idle", "cancelled"),
        (composed(" ❯ go", " ● Compaction completed"), "idle", "compacted"),
        (composed(" ❯ go", LOGIN), "error", "login_refused"),
        (composed(" ❯ go", " ✗ Failed to get response from the AI model"), "error", "request_failed"),
        (composed(" ❯ go", " ✗ You have reached your usage limit"), "error", "usage_limit_reached"),
        (asked(*APPROVAL), "waiting_approval", "approval_asked"),
        (asked(*TRUST), "waiting_approval", "folder_not_trusted"),
        (asked("Select a model", "❯ 1. a", "  2. b", APPROVAL[-1]), "waiting_input", "choice_open"),
        (screen(FORM), "waiting_input", "question_asked"),
    ],
)
def test_a_screen_is_known(shown, state, rule):
    seen = look(shown)
    assert (seen.state, seen.name) == (state, rule)


@pytest.mark.parametrize(
    "shown",
    [screen(""), screen("   Resume     copilot --resume=1\n$ "), screen([*box(*APPROVAL), "$ "]), screen(APPROVAL)],
)
def test_what_only_looks_like_one_is_unknown(shown):
    assert look(shown).state == "unknown"


def test_a_dialog_that_the_agent_quotes_is_not_open():
    assert look(composed(" ❯ show me", " ● It looks so:", *box(*APPROVAL, width=50))).state == "completed"


def test_a_tool_that_failed_is_no_error_of_the_agent():
    assert look(composed(" ❯ go", " ✗ Shell make", "   quota exceeded")).state == "idle"


def test_an_error_of_an_earlier_turn_is_over():
    assert look(composed(" ❯ go", LOGIN, " ❯ again", " ● fine")).state == "completed"
