"""A state is published once per change, and only over the version that the caller saw."""

import pytest

from termvisor.agents.state.published_state import build_state, compute_change, resolve_agent
from termvisor.model.agent.state import StateProjection
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    build_agent_process,
    build_knowledge,
    build_signal,
    build_working_screens,
    compute_state_after,
    to_ns,
)

RUNNING = compute_state_after(1, build_signal(0, "hook", "running"))
ENDED = compute_state_after(5, build_signal(0, "hook", "running"), build_signal(4, "hook", "completed"))


def test_the_first_state_is_a_change() -> None:
    change = compute_change(None, RUNNING, to_ns(1))
    assert change is not None
    assert (change.version, change.before, change.after) == (1, None, RUNNING)


def test_a_change_is_the_next_version() -> None:
    change = compute_change(StateProjection(version=4, state=RUNNING), ENDED, to_ns(5))
    assert change is not None
    assert (change.version, change.at) == (5, to_ns(5))


def test_a_repeated_state_is_not_a_change() -> None:
    again = compute_state_after(3, build_signal(0, "hook", "running"), build_signal(2, "hook", "running"))
    assert again.last_event != RUNNING.last_event
    assert compute_change(StateProjection(version=4, state=RUNNING), again, to_ns(3)) is None


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (RUNNING, ("deterministic", "hook", "high", "managed_deterministic_fresh")),
        (compute_state_after(3, build_working_screens(1, 2)), ("heuristic", "screen", "medium", "managed_heuristic")),
        (compute_state_after(3), ("none", "", "low", "managed_heuristic")),
    ],
)
def test_a_state_has_evidence_mode_source_and_confidence(one, expected: tuple) -> None:
    assert (one.evidence_mode, one.source, one.confidence, one.binding) == expected


def test_a_state_names_its_evidence() -> None:
    assert (ENDED.evidence, ENDED.since, ENDED.last_event) == (4000, to_ns(4), to_ns(4))


def build_missing_screens(*seconds: float) -> list:
    return [build_signal(one, "screen", kind="no_agent") for one in seconds]


BINDINGS = [
    (
        "a remote agent whose native source is stale is missing on its screen",
        700,
        0,
        [build_signal(2, "hook", "running"), build_missing_screens(690, 695)],
        "managed_deterministic_stale",
    ),
    (
        "two screens without it, and a title that says nothing",
        8,
        101,
        [build_missing_screens(3, 5), build_signal(6, "title", kind="note", title="bash")],
        "unmanaged",
    ),
    ("identified by its screen", 3, 101, [build_working_screens(1, 2)], "managed_heuristic"),
    ("one screen without it", 4, 101, [build_working_screens(1), build_missing_screens(3)], "managed_heuristic"),
    ("two screens without it", 6, 101, [build_working_screens(1), build_missing_screens(3, 5)], "unmanaged"),
    (
        "two screens, but not in a row",
        9,
        101,
        [build_missing_screens(1), build_working_screens(3), build_missing_screens(5)],
        "managed_heuristic",
    ),
    (
        "a native source reported",
        3,
        101,
        [build_working_screens(1), build_signal(2, "hook", "running")],
        "managed_deterministic_fresh",
    ),
    ("the native source is stale", 700, 101, [build_signal(2, "hook", "running")], "managed_deterministic_stale"),
    (
        "the native source is back",
        701,
        101,
        [build_signal(2, "hook", "running"), build_signal(700, "hook")],
        "managed_deterministic_fresh",
    ),
    (
        "its process is alive, whatever the screen shows",
        900,
        101,
        [build_signal(2, "hook", kind="source_down"), build_missing_screens(3, 5)],
        "managed_deterministic_stale",
    ),
    (
        "process unknown, source down, not on the screen",
        900,
        0,
        [build_signal(2, "hook", kind="source_down"), build_missing_screens(3, 5)],
        "unmanaged",
    ),
]


@pytest.mark.parametrize(
    ("seconds", "pid", "signals", "expected"), [case[1:] for case in BINDINGS], ids=[case[0] for case in BINDINGS]
)
def test_a_state_has_binding_and_presence(seconds: float, pid: int, signals: list, expected) -> None:
    knowledge, agent_process = build_knowledge(*signals), build_agent_process(pid=pid)
    resolution = resolve_agent(knowledge, agent_process, to_ns(seconds), DEFAULT_THRESHOLDS)
    state = build_state(resolution, agent_process, DEFAULT_THRESHOLDS)
    assert (state.binding, state.presence) == (expected, "unmanaged" if expected == "unmanaged" else "managed")
