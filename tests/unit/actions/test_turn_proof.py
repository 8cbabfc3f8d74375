"""A submitted text counts as taken only if the agent's screen shows it, or shows that a turn began."""

import pytest

from termvisor.actions.turn_proof import find_shown_proof
from termvisor.agents.adapters.adapter import ScreenReading
from tests.unit.actions.scripted_screen import build_pane_state

COMPOSER = ("─" * 40, "❯ ", "─" * 40)
TEXT = "fix the tests"


def look(state: str, *conversation: str):
    return build_pane_state((*conversation, *COMPOSER)), ScreenReading(state=state, rule=f"claude_code.screen.{state}")


@pytest.mark.parametrize(
    ("before", "after", "proof"),
    [
        (look("idle"), look("idle"), None),
        (look("idle"), look("idle", "❯ something else"), None),
        (look("idle"), look("idle", f"❯ {TEXT}"), "in_conversation"),
        (look("idle"), look("running", f"❯ {TEXT}", "✻ Churning…"), "in_conversation"),
        (look("idle"), look("running", "✻ Churning…"), "turn_started"),
        (look("unknown"), look("running", "✻ Churning…"), "turn_started"),
        (look("running", "✻ Churning…"), look("running", "✻ Churning…"), None),
        (look("running", "✻ Churning…"), look("running", "✻ Churning…", f"  {TEXT}"), "queued"),
        # The same text as before: once more, or nearer to the end after the screen has scrolled.
        (look("idle", f"❯ {TEXT}", "● Done."), look("idle", f"❯ {TEXT}", "● Done."), None),
        (look("idle", f"❯ {TEXT}", "● Done."), look("idle", f"❯ {TEXT}", "● Done.", f"❯ {TEXT}"), "in_conversation"),
        (look("idle", f"❯ {TEXT}", "● Done."), look("idle", "● Done.", f"❯ {TEXT}"), "in_conversation"),
        (look("running", f"❯ {TEXT}", "● Working"), look("running", f"❯ {TEXT}"), None),
    ],
)
def test_a_screen_proves_what_it_shows_anew(before, after, proof):
    assert find_shown_proof(TEXT, before, after) == proof
