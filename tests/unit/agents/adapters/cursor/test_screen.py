"""Screen rules of Cursor, as documented."""

import pytest

from termvisor.agents.adapters.cursor.screen import classify_screen
from tests.unit.agents.adapters.adapter_inputs import build_screen


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            ["Run this command?", "Not in allowlist: touch", " → Run (once) (y)", "   Reject (esc or p)"],
            "waiting_approval",
        ),
        (["⬢ Generating", "→ Add a follow-up          ctrl+c to stop"], "running"),
        (["→ Plan, search, build anything"], "idle"),
        (["Run this command?"], "unknown"),
        (["$ ls"], "unknown"),
        ([], "unknown"),
    ],
)
def test_a_screen_has_its_state(rows, expected):
    assert classify_screen(build_screen(rows)).state == expected


def test_cursor_screens_have_a_low_confidence():
    assert classify_screen(build_screen(["→ Add a follow-up"])).confidence <= 0.5
