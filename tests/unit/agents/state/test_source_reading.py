"""The freshness of a source at an instant."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.source_slots import is_compatible_state, list_source_deadlines, read_sources
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import FlagUpdate
from tests.builtin_thresholds import DEFAULT_THRESHOLDS, SOURCES_BY_AGENT
from tests.unit.agents.state.signal_scene import (
    ONE,
    build_knowledge,
    build_screen_signal,
    build_signal,
    build_working_screens,
    to_ns,
)

HEARTBEAT_THRESHOLDS = Thresholds(
    sources={"claude_code": tuple(replace(one, beats=one.name == "osc") for one in SOURCES_BY_AGENT["claude_code"])}
)


def read_freshness(seconds: float, *facts, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> dict[str, str]:
    slots = build_knowledge(*facts, thresholds=thresholds).source_slots[ONE]
    return {one.source.name: one.freshness for one in read_sources(slots, "claude_code", to_ns(seconds), thresholds)}


@pytest.mark.parametrize(
    ("seconds", "expected"), [(-5, "fresh"), (3, "fresh"), (3.001, "stale"), (15, "stale"), (15.001, "down")]
)
def test_a_source_with_heartbeats_is_rated_by_them(seconds: float, expected: str) -> None:
    assert read_freshness(seconds, build_signal(0, "osc", "running"), thresholds=HEARTBEAT_THRESHOLDS) == {
        "osc": expected
    }


@pytest.mark.parametrize(("seconds", "expected"), [(600, "fresh"), (600.001, "stale"), (9999, "stale")])
def test_other_sources_are_fresh_for_their_trust_time(seconds: float, expected: str) -> None:
    assert read_freshness(seconds, build_signal(0, "hook", "running")) == {"hook": expected}


def test_a_source_that_is_down_is_down_at_once() -> None:
    assert read_freshness(1, build_signal(0, "hook", "running"), build_signal(1, "hook", kind="source_down")) == {
        "hook": "down"
    }


def test_an_agreeing_screen_keeps_a_stale_source_fresh() -> None:
    assert read_freshness(650, build_signal(0, "hook", "running"), build_working_screens(640))["hook"] == "fresh"
    assert read_freshness(650, build_signal(0, "hook", "waiting_input"), build_working_screens(640))["hook"] == "stale"


def test_a_source_with_heartbeats_is_not_kept_fresh_by_the_screen() -> None:
    assert (
        read_freshness(9, build_signal(0, "osc", "running"), build_working_screens(8), thresholds=HEARTBEAT_THRESHOLDS)[
            "osc"
        ]
        == "stale"
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("idle", "completed", True),
        ("idle", "error", True),
        ("waiting_input", "waiting_approval", True),
        ("running", "idle", False),
        ("running", "waiting_input", False),
        ("error", "waiting_approval", False),
    ],
)
def test_states_with_similar_screens_are_compatible(one, other, expected: bool) -> None:
    assert is_compatible_state(one, other) is is_compatible_state(other, one) is expected


def test_deadlines_are_listed() -> None:
    slots = build_knowledge(
        build_signal(0, "osc", "running"), build_signal(0, "hook", "running"), thresholds=HEARTBEAT_THRESHOLDS
    ).source_slots[ONE]
    assert sorted(list_source_deadlines(slots, "claude_code", HEARTBEAT_THRESHOLDS)) == [
        to_ns(3) + 1,
        to_ns(15) + 1,
        to_ns(600) + 1,
    ]


def test_a_stale_screen_keeps_nothing_fresh() -> None:
    assert read_freshness(90_000, build_signal(0, "hook", "running"), build_working_screens(1)) == {
        "hook": "stale",
        "screen": "stale",
    }


def test_a_title_does_not_keep_a_stale_screen_fresh() -> None:
    sources = SOURCES_BY_AGENT["claude_code"]
    found = read_freshness(700, *build_working_screens(1), build_signal(699, "title", "running", moved_at=to_ns(699)))
    assert {source.name for source in sources if source.tier == "heuristic"} >= {"screen", "title"}
    assert found == {"screen": "stale", "title": "fresh"}


def test_the_deadlines_of_flags_tasks_and_screens_are_listed() -> None:
    limit = FlagUpdate(usage_limited=True, resets_at=to_ns(3600))
    facts = [
        build_signal(1, "hook", "running", flags=limit),
        build_signal(2, "hook", kind="task_began", task="a"),
        build_signal(3, "hook", kind="task_began", task="b"),
        build_signal(4, "hook", kind="task_ended", task="b"),
        build_screen_signal(5, "idle", moved=2),
    ]
    slots = build_knowledge(*facts).source_slots[ONE]
    seconds = sorted((at - to_ns(0)) / 10**9 for at in list_source_deadlines(slots, "claude_code", DEFAULT_THRESHOLDS))
    screen = DEFAULT_THRESHOLDS.find_source("claude_code", "screen").trusted_for / 10**9
    assert [round(one) for one in seconds] == sorted([604, 2 + 3600, 3660, round(5 + screen), 5 + 4, 5 + 45, 2 + 4])


def test_an_earlier_reading_is_the_statement_before() -> None:
    facts = [build_signal(1, "hook", "running"), build_signal(5, "hook", "idle")]
    (hook,) = read_sources(build_knowledge(*facts).source_slots[ONE], "claude_code", to_ns(6), DEFAULT_THRESHOLDS)
    assert hook.read_at(to_ns(5)) is hook
    earlier = hook.read_at(to_ns(4.999))
    assert (earlier.state, earlier.since) == ("running", to_ns(1))
    (only,) = read_sources(build_knowledge(facts[1]).source_slots[ONE], "claude_code", to_ns(6), DEFAULT_THRESHOLDS)
    assert only.read_at(to_ns(4)) is None
    unknown = [build_signal(1, "hook", "unknown"), build_signal(5, "hook", "idle")]
    (hook,) = read_sources(build_knowledge(*unknown).source_slots[ONE], "claude_code", to_ns(6), DEFAULT_THRESHOLDS)
    assert hook.read_at(to_ns(4)) is None
