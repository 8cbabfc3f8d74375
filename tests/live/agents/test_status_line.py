"""The status line that `visor setup agents --status-line` gives to the real Claude Code tells cost and context."""

import copy

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import open_multi_agent_scene
from tests.live.polling import wait_until

pytestmark = pytest.mark.live


def test_cost_and_context_are_known_and_nothing_is_shown():
    with open_multi_agent_scene() as one:
        place = one.prepare_folders("status", CLAUDE)
        person = copy.copy(one.scene.visor)
        person.env = {**person.env, "HOME": str(place.home)}
        person.run_checked("setup", "agents", "--agent", "claude_code", "--status-line", "--yes")
        seat = one.start(CLAUDE, place)
        seat.wait_for_state("idle", seconds=60)
        seat.send_prompt("MODEL tokens 500000")
        row = wait_until(lambda: next((row for row in [seat.pane_row] if row["cost"]), None), timeout_s=30)
        assert (row["cost_is_estimated"], row["model"]) == (False, "claude-opus-5-5")
        wait_until(lambda: seat.pane_row["context_used"] == 0.5)
        first = row["cost"]
        seat.send_prompt("MODEL text and more")
        wait_until(lambda: (seat.pane_row["cost"] or 0) > first)
        seat.wait_for_state("completed")
        assert "StatusLine" not in seat.screen
        assert "hook" in {witness["source"] for witness in seat.explanation["witnesses"]}
