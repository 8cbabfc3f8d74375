"""What is published: once for every change, and only by one who saw the version before it."""

import pytest

from termvisor.agents.state.published_state import compute_change, list_states
from termvisor.model.agent.state import StateProjection
from termvisor.model.ids import RuntimeId
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    build_agent_process,
    build_agent_started,
    build_knowledge,
    build_signal,
    build_working_screens,
    compute_state_after,
    to_ns,
)

RUNNING = compute_state_after(1, build_signal(0, "hook", "running"))
ENDED = compute_state_after(5, build_signal(0, "hook", "running"), build_signal(4, "hook", "completed"))


def test_the_first_state_is_a_change() -> None:
    change = compute_change(None, 0, RUNNING, to_ns(1))
    assert change is not None
    assert (change.version, change.before, change.after) == (1, None, RUNNING)


def test_a_change_is_the_next_version() -> None:
    change = compute_change(StateProjection(version=4, state=RUNNING), 4, ENDED, to_ns(5))
    assert change is not None
    assert (change.version, change.at) == (5, to_ns(5))


def test_the_same_again_is_no_change() -> None:
    again = compute_state_after(3, build_signal(0, "hook", "running"), build_signal(2, "hook", "running"))
    assert again.last_event != RUNNING.last_event
    assert compute_change(StateProjection(version=4, state=RUNNING), 4, again, to_ns(3)) is None


@pytest.mark.parametrize("seen", [3, 5])
def test_one_who_saw_another_version_changes_nothing(seen: int) -> None:
    assert compute_change(StateProjection(version=4, state=RUNNING), seen, ENDED, to_ns(5)) is None


def test_a_job_for_a_runtime_that_is_gone_changes_nothing() -> None:
    other = build_knowledge(build_agent_started(0, build_agent_process(2, mux_pane="%6")))
    newcomer = list_states(other, to_ns(1), DEFAULT_THRESHOLDS)[1]
    assert newcomer.runtime == RuntimeId(2)
    assert compute_change(StateProjection(version=4, state=RUNNING), 4, newcomer, to_ns(5)) is None


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (RUNNING, ("deterministic", "hook", "high", "managed_deterministic_fresh")),
        (compute_state_after(3, build_working_screens(1, 2)), ("heuristic", "screen", "medium", "managed_heuristic")),
        (compute_state_after(3), ("none", "", "low", "managed_heuristic")),
    ],
)
def test_a_state_says_how_it_is_known(one, expected: tuple) -> None:
    assert (one.evidence_mode, one.source, one.confidence, one.binding) == expected


def test_a_state_names_its_evidence() -> None:
    assert (ENDED.evidence, ENDED.since, ENDED.last_event) == (4000, to_ns(4), to_ns(4))
