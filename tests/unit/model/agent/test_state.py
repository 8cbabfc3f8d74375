"""States: one order for all, and nothing is as good as unknown."""

from typing import get_args

import pytest

from termvisor.model.agent.state import PRECEDENCE, StateName, get_precedence, select_top_state


def test_every_state_has_its_place() -> None:
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
def test_what_matters_most_speaks_for_all(states: list[StateName], expected: StateName) -> None:
    assert select_top_state(states) == expected
