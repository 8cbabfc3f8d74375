"""Which looks are news, and what they say."""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Seen
from termvisor.agents.tracking.screen_signal import Glance, is_news, signal
from termvisor.clock import NS
from termvisor.testing.world import NOON
from tests.unit.agents.tracking.house import began

RUNNING = Seen(state="running", rule="toy.running", confidence=0.9, details={"seconds": 4})
RUNTIME = began(NOON).runtime


def glance(seconds: float, seen: Seen = RUNNING, told: float = 0) -> Glance:
    return Glance(rows=("x",), seen=seen, at=NOON + int(seconds * NS), told_at=NOON + int(told * NS))


def test_the_first_look_and_another_state_are_news():
    assert is_news(None, glance(0), 2 * NS)
    assert is_news(glance(0), glance(0.5, Seen(state="idle")), 2 * NS)


def test_the_same_is_said_again_only_after_a_while():
    assert not is_news(glance(0), glance(4.9), 2 * NS)
    assert is_news(glance(0), glance(5), 2 * NS)
    assert not is_news(glance(0), glance(20), 30 * NS)
    assert is_news(glance(20), glance(30), 30 * NS)


def test_a_number_that_counts_up_on_the_screen_is_no_news():
    assert not is_news(glance(0), glance(1, replace(RUNNING, details={"seconds": 5})), 2 * NS)


def test_a_look_names_its_rule_and_when_the_pane_moved():
    told = signal(RUNTIME, glance(3), NOON)
    assert (told.source, told.tier, told.state, told.moved_at) == ("screen", "heuristic", "running", NOON)
    assert (told.payload, told.runtime) == ({"seconds": 4, "rule": "toy.running"}, RUNTIME.id)


def test_a_look_lists_the_tasks_that_the_screen_counts():
    two, none = replace(RUNNING, tasks=2), replace(RUNNING, tasks=0)
    assert [signal(RUNTIME, glance(3, one), NOON).tasks for one in (two, none, RUNNING)] == [
        ("shown 1", "shown 2"),
        (),
        None,
    ]
    assert is_news(glance(0, two), glance(1, none), 2 * NS)


def test_a_strange_screen_is_unknown_and_of_one_that_was_only_seen_perhaps_no_agent_at_all():
    strange = glance(3, Seen())
    told = signal(RUNTIME, strange, None)
    assert (told.state, told.reason) == ("unknown", "unknown_screen")
    assert signal(replace(RUNTIME, pid=0), strange, None).kind == "no_agent"
