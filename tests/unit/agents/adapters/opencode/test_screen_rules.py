"""What opencode's screens say, and what only looks like it."""

import pytest

from termvisor.agents.adapters.opencode.screen_rules import look
from tests.unit.agents.adapters.opencode.screens import PERMISSION, QUESTION, WORK, barred, composed, panel
from tests.unit.agents.adapters.saying import screen

GO = barred("go")
LIMITED = "   ⬝⬝■■■■■■ The usage limit has been reached [retrying in 1s attempt #2]         esc interrupt"
BUSY = "   ⬝⬝⬝⬝⬝⬝⬝⬝ The server had an error. [retrying in 2s attempt #2] esc interrupt"
END = "     ▣  Build · Model"


@pytest.mark.parametrize(
    ("shown", "state", "rule"),
    [
        (composed("  ┃  Ask anything…"), "idle", "at_rest"),
        (composed(*GO, "     words", END, below=WORK), "running", "working"),
        (composed(*GO, END, below="   ⬝⬝⬝⬝■■■■  esc again to interrupt"), "running", "working"),
        (composed(*GO, END, below=BUSY), "running", "retrying"),
        (composed(*GO, END, below=LIMITED), "running", "usage_limit_retried"),
        (composed(*GO, "     words", f"{END} · 8.3s"), "completed", "answered"),
        (composed(*GO, "     words", f"{END} · 1m 5s              Context"), "completed", "answered"),
        (composed(*GO, "     words", f"{END} · interrupted"), "idle", "interrupted"),
        (composed(*GO, "     $ touch x", END), "idle", "at_rest"),
        (composed(*GO, *barred("Incorrect API key provided: dummy."), END), "error", "login_refused"),
        (composed(*GO, *barred("You are out of quota"), END), "error", "usage_limit_reached"),
        (composed(*GO, *barred("The server had an error"), END), "error", "request_failed"),
        (composed("     ▣  Compaction · Model", below=WORK), "running", "compacting"),
        (composed("     summary", "     ▣  Compaction · Model · 4.1s"), "idle", "compacted"),
        (panel(*PERMISSION), "waiting_approval", "permission_asked"),
        (panel("△ Always allow", "- touch *", "Confirm   Cancel      ⇆ select"), "waiting_approval", "always_asked"),
        (panel(*QUESTION), "waiting_input", "question_asked"),
    ],
)
def test_a_screen_is_known(shown, state, rule):
    seen = look(shown)
    assert (seen.state, seen.name) == (state, rule)


@pytest.mark.parametrize(
    "shown",
    [
        screen(""),
        screen("  Session   A title\n  Continue  opencode -s ses_000000000001\n$ "),
        screen(["△ Permission required", "Allow once   Allow always   Reject"]),
        panel("some block", "at the end", "of a screen"),
    ],
)
def test_what_only_looks_like_one_is_unknown(shown):
    assert look(shown).state == "unknown"


def test_a_panel_that_is_quoted_is_not_open():
    assert look(composed(*barred(*PERMISSION), "     words", f"{END} · 2s")).state == "completed"


def test_a_question_tells_its_command():
    assert look(panel(*PERMISSION)).details["command"] == "touch x"
    assert look(panel(*QUESTION)).details["question"] == "Which database?"


def test_the_output_of_a_tool_is_no_error():
    assert look(composed(*GO, *barred("$ make", "error: quota"), "     The tool has finished.", END)).state == "idle"
