"""The status line that `visor setup agents --status-line` gives to the real Claude Code tells cost and context."""

import copy

import pytest

from tests.live.agents.lab import CLAUDE
from tests.live.agents.room import room
from tests.live.waiting import until

pytestmark = pytest.mark.live


def test_cost_and_context_are_known_and_nothing_is_shown():
    with room() as one:
        place = one.place("status", CLAUDE)
        person = copy.copy(one.scene.visor)
        person.env = {**person.env, "HOME": str(place.home)}
        person.visor("setup", "agents", "--agent", "claude_code", "--status-line", "--yes")
        seat = one.start(CLAUDE, place)
        seat.becomes("idle", seconds=60)
        seat.prompt("MODEL tokens 500000")
        row = until(lambda: next((row for row in [seat.row] if row["cost"]), None), seconds=30)
        assert (row["cost_is_estimated"], row["model"]) == (False, "claude-opus-5-5")
        until(lambda: seat.row["context_used"] == 0.5)
        first = row["cost"]
        seat.prompt("MODEL text and more")
        until(lambda: (seat.row["cost"] or 0) > first)
        seat.becomes("completed")
        assert "StatusLine" not in seat.screen
        assert "hook" in {witness["source"] for witness in seat.explained["witnesses"]}
