"""What is published: once for every change, and only by one who saw the version before it."""

import pytest

from termvisor.agents.state.published_state import advance, states
from termvisor.model.agent.state import Projection
from termvisor.model.ids import RuntimeId
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import at, began, knowing, runtime, says, state, working

RUNNING = state(1, says(0, "hook", "running"))
ENDED = state(5, says(0, "hook", "running"), says(4, "hook", "completed"))


def test_the_first_state_is_a_change() -> None:
    change = advance(None, 0, RUNNING, at(1))
    assert change is not None
    assert (change.version, change.before, change.after) == (1, None, RUNNING)


def test_a_change_is_the_next_version() -> None:
    change = advance(Projection(version=4, state=RUNNING), 4, ENDED, at(5))
    assert change is not None
    assert (change.version, change.at) == (5, at(5))


def test_the_same_again_is_no_change() -> None:
    again = state(3, says(0, "hook", "running"), says(2, "hook", "running"))
    assert again.last_event != RUNNING.last_event
    assert advance(Projection(version=4, state=RUNNING), 4, again, at(3)) is None


@pytest.mark.parametrize("seen", [3, 5])
def test_one_who_saw_another_version_changes_nothing(seen: int) -> None:
    assert advance(Projection(version=4, state=RUNNING), seen, ENDED, at(5)) is None


def test_a_job_for_a_runtime_that_is_gone_changes_nothing() -> None:
    other = knowing(began(0, runtime(2, mux_pane="%6")))
    newcomer = states(other, at(1), DEFAULT)[1]
    assert newcomer.runtime == RuntimeId(2)
    assert advance(Projection(version=4, state=RUNNING), 4, newcomer, at(5)) is None


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (RUNNING, ("deterministic", "hook", "high", "managed_deterministic_fresh")),
        (state(3, working(1, 2)), ("heuristic", "screen", "medium", "managed_heuristic")),
        (state(3), ("none", "", "low", "managed_heuristic")),
    ],
)
def test_a_state_says_how_it_is_known(one, expected: tuple) -> None:
    assert (one.evidence_mode, one.source, one.confidence, one.binding) == expected


def test_a_state_names_its_evidence() -> None:
    assert (ENDED.evidence, ENDED.since, ENDED.last_event) == (4000, at(4), at(4))
