"""The clock is set: what is known keeps its age, and what comes next counts."""

import pytest

from termvisor.agents.state.reducer import latest, tell
from termvisor.model.agent.agent_process import ClockSet, RuntimeEnded
from termvisor.model.agent.signal import FlagsTold, Hint
from termvisor.model.ids import MuxPaneId
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import ONE, S, at, began, knowing, resting, runtime, says, seen, shows, working

HOUR = 3600


def set_by(hours: float, seconds: float) -> ClockSet:
    """Told at a second of the clock before it was set."""
    return ClockSet(at=at(seconds + hours * HOUR), by=int(hours * HOUR * S))


@pytest.mark.parametrize("hours", [-2, 3])
@pytest.mark.parametrize(
    "facts",
    [
        [says(1, "registry", "running"), says(2, "hook", "completed")],
        [says(1, "registry", "idle"), *working(2, 8)],
        [*resting(2, 8, 20)],
        [says(1, "hook", "running", task="a", kind="task_began")],
        [says(1, "hook", "running", flags=FlagsTold(compacting=True))],
        [shows(1, "unknown", moved=1)],
    ],
)
def test_a_state_is_the_same_and_as_old(hours, facts):
    before, known = seen(knowing(*facts), 30), knowing(*facts, set_by(hours, 30))
    after = seen(known, 30 + hours * HOUR)
    assert (after.value, after.source, after.flags.subtasks) == (before.value, before.source, before.flags.subtasks)
    moved = None if before.since is None else before.since + int(hours * HOUR * S)
    assert after.since == moved


@pytest.mark.parametrize("source", ["registry", "hook", "screen"])
def test_news_count_after_the_clock_was_set_back(source):
    known = knowing(says(100, source, "waiting_approval"), set_by(-1, 110), says(112 - HOUR, source, "error"))
    assert seen(known, 113 - HOUR).value == "error"


def test_news_by_a_clock_that_was_not_set_ahead_count_too():
    late = says(112 + HOUR, "registry", "waiting_input", event_at=at(112))
    assert seen(knowing(says(100, "registry", "running"), set_by(1, 110), late), 113 + HOUR).value == "waiting_input"


def test_a_hook_is_not_older_than_its_agent_because_the_clock_was_set_back():
    line = says(60 - HOUR, "hook", "error", runtime=None, hint=Hint(mux_pane=MuxPaneId("%5"), pid=101))
    assert seen(knowing(set_by(-1, 50), line), 61 - HOUR).value == "error"


def test_what_was_heard_before_is_still_known_again():
    again = says(1, "registry", "running", ingested_at=at(31 - HOUR))
    known = knowing(says(1, "registry", "running"), set_by(-1, 30), again)
    assert known.dropped == {"duplicate": 1}


def test_completed_becomes_idle_in_its_time():
    known = knowing(says(10, "hook", "completed"), set_by(-5, 20))
    assert seen(known, 129 - 5 * HOUR).value == "completed"
    assert seen(known, 131 - 5 * HOUR).value == "idle"


def test_the_end_of_a_limit_is_a_time_of_day_and_stays():
    limited = says(1, "hook", "error", flags=FlagsTold(usage_limited=True, resets_at=at(HOUR)))
    assert seen(knowing(limited, set_by(-1, 10)), 20 - HOUR).flags.resets_at == at(HOUR)


def test_a_tombstone_keeps_its_time():
    known = knowing(RuntimeEnded(at=at(10), runtime=ONE), set_by(-1, 20))
    newcomer = began(30 - HOUR, runtime(2, mux_pane="%5"))
    nameless = says(31 - HOUR, "hook", "error", runtime=None, hint=Hint(mux_pane=MuxPaneId("%5")))
    assert tell(tell(known, newcomer, DEFAULT), nameless, DEFAULT).dropped == {"runtime_mismatch": 1}


def test_the_newest_instant_is_known():
    assert latest(knowing(says(70, "hook", "running"))) == at(70)
    assert latest(knowing(RuntimeEnded(at=at(90), runtime=ONE))) == at(90)
