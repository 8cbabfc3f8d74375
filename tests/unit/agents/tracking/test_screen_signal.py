"""Which looks are news, and what they say."""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.tracking.screen_signal import ClassifiedScreen, build_screen_signal, is_news
from termvisor.clock import NS
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.tracker_scene import build_agent_started

RUNNING = ScreenReading(state="running", rule="toy.running", confidence=0.9, details={"seconds": 4})
RUNTIME = build_agent_started(NOON).runtime


def glance(seconds: float, seen: ScreenReading = RUNNING, told: float = 0) -> ClassifiedScreen:
    return ClassifiedScreen(rows=("x",), reading=seen, at=NOON + int(seconds * NS), stored_at=NOON + int(told * NS))


def test_the_first_look_and_another_state_are_news():
    assert is_news(None, glance(0), 2 * NS)
    assert is_news(glance(0), glance(0.5, ScreenReading(state="idle")), 2 * NS)


def test_the_same_is_said_again_only_after_a_while():
    assert not is_news(glance(0), glance(4.9), 2 * NS)
    assert is_news(glance(0), glance(5), 2 * NS)
    assert not is_news(glance(0), glance(20), 30 * NS)
    assert is_news(glance(20), glance(30), 30 * NS)


def test_a_number_that_counts_up_on_the_screen_is_no_news():
    assert not is_news(glance(0), glance(1, replace(RUNNING, details={"seconds": 5})), 2 * NS)


def test_a_look_names_its_rule_and_when_the_pane_moved():
    told = build_screen_signal(RUNTIME, glance(3), NOON)
    assert (told.source, told.tier, told.state, told.moved_at) == ("screen", "heuristic", "running", NOON)
    assert (told.payload, told.runtime) == ({"seconds": 4, "rule": "toy.running"}, RUNTIME.id)


def test_a_look_lists_the_tasks_that_the_screen_counts():
    two, none = replace(RUNNING, tasks=2), replace(RUNNING, tasks=0)
    assert [build_screen_signal(RUNTIME, glance(3, one), NOON).tasks for one in (two, none, RUNNING)] == [
        ("shown 1", "shown 2"),
        (),
        None,
    ]
    assert is_news(glance(0, two), glance(1, none), 2 * NS)


def test_a_strange_screen_is_unknown_and_of_one_that_was_only_seen_perhaps_no_agent_at_all():
    strange = glance(3, ScreenReading())
    told = build_screen_signal(RUNTIME, strange, None)
    assert (told.state, told.reason) == ("unknown", "unknown_screen")
    assert build_screen_signal(replace(RUNTIME, pid=0), strange, None).kind == "no_agent"
