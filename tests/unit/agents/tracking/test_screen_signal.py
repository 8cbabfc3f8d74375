"""Which screens are stored, and their signals."""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.tracking.agent_screens import ClassifiedScreen, build_screen_signal, is_news
from termvisor.clock import NS
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import build_agent_started

RUNNING = ScreenReading(state="running", rule="toy.running", confidence=0.9, details={"seconds": 4})
RUNTIME = build_agent_started(NOON).runtime


def classify(seconds: float, seen: ScreenReading = RUNNING, stored_s: float = 0) -> ClassifiedScreen:
    return ClassifiedScreen(rows=("x",), reading=seen, at=NOON + int(seconds * NS), stored_at=NOON + int(stored_s * NS))


def test_the_first_screen_and_a_new_state_are_stored():
    assert is_news(None, classify(0), 2 * NS)
    assert is_news(classify(0), classify(0.5, ScreenReading(state="idle")), 2 * NS)


def test_the_same_state_is_repeated_after_a_while():
    assert not is_news(classify(0), classify(4.9), 2 * NS)
    assert is_news(classify(0), classify(5), 2 * NS)
    assert not is_news(classify(0), classify(20), 30 * NS)
    assert is_news(classify(20), classify(30), 30 * NS)


def test_a_changed_counter_on_the_screen_is_not_stored():
    assert not is_news(classify(0), classify(1, replace(RUNNING, details={"seconds": 5})), 2 * NS)


def test_a_signal_has_its_rule_and_moved_at():
    signal = build_screen_signal(RUNTIME, classify(3), NOON)
    assert (signal.source, signal.tier, signal.state, signal.moved_at) == (
        "screen",
        "heuristic",
        "running",
        NOON,
    )
    assert (signal.payload, signal.runtime) == ({"seconds": 4, "rule": "toy.running"}, RUNTIME.id)


def test_a_signal_lists_the_counted_tasks():
    two, none = replace(RUNNING, tasks=2), replace(RUNNING, tasks=0)
    assert [build_screen_signal(RUNTIME, classify(3, one), NOON).tasks for one in (two, none, RUNNING)] == [
        ("shown 1", "shown 2"),
        (),
        None,
    ]
    assert is_news(classify(0, two), classify(1, none), 2 * NS)


def test_an_unknown_screen_of_a_remote_agent_means_no_agent():
    unknown = classify(3, ScreenReading())
    signal = build_screen_signal(RUNTIME, unknown, None)
    assert (signal.state, signal.reason) == ("unknown", "unknown_screen")
    assert build_screen_signal(replace(RUNTIME, pid=0), unknown, None).kind == "no_agent"
