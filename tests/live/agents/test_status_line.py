"""`visor setup agents --status-line` makes the real Claude Code report cost and context."""

import copy

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import open_multi_agent_scene
from tests.live.polling import wait_until

pytestmark = pytest.mark.live


def test_the_status_line_reports_cost_and_context_without_output():
    with open_multi_agent_scene() as multi_scene:
        folders = multi_scene.prepare_folders("status", CLAUDE)
        user_visor = copy.copy(multi_scene.scene.visor)
        user_visor.env = {**user_visor.env, "HOME": str(folders.home)}
        user_visor.allow_changes()
        user_visor.run_checked("setup", "agents", "--agent", "claude_code", "--status-line", "--yes")
        pane = multi_scene.start(CLAUDE, folders)
        pane.wait_for_state("idle", seconds=60)
        pane.send_prompt("MODEL tokens 500000")
        row = wait_until(lambda: next((row for row in [pane.pane_row] if row["cost"]), None), timeout_s=30)
        assert (row["cost_is_estimated"], row["model"]) == (False, "claude-opus-5-5")
        wait_until(lambda: pane.pane_row["context_used"] == 0.5)
        first = row["cost"]
        pane.send_prompt("MODEL text and more")
        wait_until(lambda: (pane.pane_row["cost"] or 0) > first)
        pane.wait_for_state("completed")
        assert "StatusLine" not in pane.screen
        assert "hook" in {signal["source"] for signal in pane.explanation["witnesses"]}
