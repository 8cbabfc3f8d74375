"""After the clock is set, ages stay the same and new signals count."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.clock_change import ClockJumpDetector, find_latest_time
from termvisor.agents.state.reducer import AgentKnowledge, apply_fact, apply_facts
from termvisor.model.agent.agent_process import AgentExited, AgentStarted, ClockSet, OutputMissed
from termvisor.model.agent.signal import FlagUpdate, ProcessHint, Signal
from termvisor.model.ids import MuxPaneId, PaneId
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    ONE,
    SECOND_NS,
    build_agent_process,
    build_agent_started,
    build_idle_screens,
    build_knowledge,
    build_screen_signal,
    build_signal,
    build_working_screens,
    compute_state_at,
    to_ns,
)

HOUR = 3600


def build_clock_set(hours: float, seconds: float) -> ClockSet:
    """Build the fact that the clock was set; `seconds` is the time before it."""
    return ClockSet(at=to_ns(seconds + hours * HOUR), by=int(hours * HOUR * SECOND_NS))


@pytest.mark.parametrize("hours", [-2, 3])
@pytest.mark.parametrize(
    "facts",
    [
        [build_signal(1, "registry", "running"), build_signal(2, "hook", "completed")],
        [build_signal(1, "registry", "idle"), *build_working_screens(2, 8)],
        [*build_idle_screens(2, 8, 20)],
        [build_signal(1, "hook", "running", task="a", kind="task_began")],
        [build_signal(1, "hook", "running", flags=FlagUpdate(compacting=True))],
        [build_screen_signal(1, "unknown", moved=1)],
    ],
)
def test_a_clock_change_does_not_change_state_and_age(hours, facts):
    before, known = compute_state_at(build_knowledge(*facts), 30), build_knowledge(*facts, build_clock_set(hours, 30))
    after = compute_state_at(known, 30 + hours * HOUR)
    assert (after.value, after.source, after.flags.subtasks) == (before.value, before.source, before.flags.subtasks)
    moved = None if before.since is None else before.since + int(hours * HOUR * SECOND_NS)
    assert after.since == moved


@pytest.mark.parametrize("source", ["registry", "hook", "screen"])
def test_signals_count_after_the_clock_was_set_back(source):
    known = build_knowledge(
        build_signal(100, source, "waiting_approval"),
        build_clock_set(-1, 110),
        build_signal(112 - HOUR, source, "error"),
    )
    assert compute_state_at(known, 113 - HOUR).value == "error"


def test_signals_of_a_clock_that_was_not_set_ahead_count():
    late = build_signal(112 + HOUR, "registry", "waiting_input", event_at=to_ns(112))
    assert (
        compute_state_at(
            build_knowledge(build_signal(100, "registry", "running"), build_clock_set(1, 110), late), 113 + HOUR
        ).value
        == "waiting_input"
    )


def test_a_hook_is_not_older_than_its_agent_after_a_setback():
    line = build_signal(60 - HOUR, "hook", "error", runtime=None, hint=ProcessHint(mux_pane=MuxPaneId("%5"), pid=101))
    assert compute_state_at(build_knowledge(build_clock_set(-1, 50), line), 61 - HOUR).value == "error"


def test_seen_signals_are_still_duplicates():
    again = build_signal(1, "registry", "running", ingested_at=to_ns(31 - HOUR))
    known = build_knowledge(build_signal(1, "registry", "running"), build_clock_set(-1, 30), again)
    assert known.dropped == {"duplicate": 1}


def test_completed_becomes_idle_after_the_same_time():
    known = build_knowledge(build_signal(10, "hook", "completed"), build_clock_set(-5, 20))
    assert compute_state_at(known, 129 - 5 * HOUR).value == "completed"
    assert compute_state_at(known, 131 - 5 * HOUR).value == "idle"


def test_the_reset_time_of_a_limit_is_not_shifted():
    limited = build_signal(1, "hook", "error", flags=FlagUpdate(usage_limited=True, resets_at=to_ns(HOUR)))
    assert compute_state_at(build_knowledge(limited, build_clock_set(-1, 10)), 20 - HOUR).flags.resets_at == to_ns(HOUR)


def test_a_tombstone_keeps_its_age():
    known = build_knowledge(AgentExited(at=to_ns(10), runtime=ONE), build_clock_set(-1, 20))
    newcomer = build_agent_started(30 - HOUR, build_agent_process(2, mux_pane="%5"))
    nameless = build_signal(31 - HOUR, "hook", "error", runtime=None, hint=ProcessHint(mux_pane=MuxPaneId("%5")))
    assert apply_fact(apply_fact(known, newcomer, DEFAULT_THRESHOLDS), nameless, DEFAULT_THRESHOLDS).dropped == {
        "runtime_mismatch": 1
    }


def test_find_latest_time_returns_the_latest_time_of_all_facts():
    for fact, latest in ((build_signal(70, "hook", "running"), 70), (AgentExited(at=to_ns(90), runtime=ONE), 90)):
        knowledge = build_knowledge(fact)
        assert find_latest_time(knowledge.roster, knowledge.source_slots) == to_ns(latest)


def shift_fact(fact, by: int):
    if isinstance(fact, AgentStarted):
        return AgentStarted(at=fact.at + by, runtime=replace(fact.runtime, started_at=fact.runtime.started_at + by))
    if not isinstance(fact, Signal):
        return replace(fact, at=fact.at + by)
    moved_at = None if fact.moved_at is None else fact.moved_at + by
    return replace(fact, event_at=fact.event_at + by, ingested_at=fact.ingested_at + by, moved_at=moved_at)


def test_a_clock_that_was_set_back_leaves_what_would_be_known_if_it_had_always_been_right():
    other = build_agent_process(2, mux_pane="%6")
    unknown = build_signal(9, "hook", "running", runtime=None, hint=ProcessHint(mux_pane=MuxPaneId("%9")))
    doubtful = ProcessHint(cwd="/home/ada/src", is_doubtful=True)
    facts = [
        build_agent_started(0),
        build_agent_started(0, other),
        build_signal(1, "hook", "running", flags=FlagUpdate(compacting=True)),
        build_signal(2, "hook", "running", task="a", kind="task_began"),
        build_signal(3, "hook", "completed", tasks=("b",)),
        *build_working_screens(4, 5),
        *build_idle_screens(6, moved=5),
        unknown,
        build_signal(10, "transcript", "error", runtime=None, hint=doubtful, session="s"),
        OutputMissed(at=to_ns(11), pane=PaneId(7)),
        AgentExited(at=to_ns(12), runtime=other.id),
    ]
    by = -HOUR * SECOND_NS
    known = apply_facts(AgentKnowledge(), [*facts, ClockSet(at=to_ns(20) + by, by=by)], DEFAULT_THRESHOLDS)
    assert known.pending and known.roster.tombstones and known.roster.unattributed_sessions
    assert known == apply_facts(AgentKnowledge(), [shift_fact(fact, by) for fact in facts], DEFAULT_THRESHOLDS)


@pytest.mark.parametrize(("off_ns", "jump_ns"), [(2 * SECOND_NS, 2 * SECOND_NS), (2 * SECOND_NS - 1, 0)])
def test_a_clock_that_is_two_seconds_off_was_set(off_ns, jump_ns):
    assert ClockJumpDetector(0, 0.0).detect_jump(off_ns, 0.0) == jump_ns
    assert ClockJumpDetector(0, 0.0).detect_jump(-off_ns, 0.0) == -jump_ns
