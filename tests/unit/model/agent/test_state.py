"""Precedence of states."""

from typing import get_args

import pytest

from termvisor.model.agent.state import PRECEDENCE, StateName, get_precedence, select_top_state


def test_every_state_has_a_precedence() -> None:
    assert set(PRECEDENCE) == set(get_args(StateName))
    assert [get_precedence(name) for name in PRECEDENCE] == list(range(len(PRECEDENCE)))


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], "unknown"),
        (["idle", "unknown"], "idle"),
        (["idle", "running", "completed"], "running"),
        (["running", "waiting_input"], "waiting_input"),
        (["waiting_input", "waiting_approval"], "waiting_approval"),
        (["error", "waiting_approval"], "error"),
    ],
)
def test_the_most_important_state_is_selected(states: list[StateName], expected: StateName) -> None:
    assert select_top_state(states) == expected
