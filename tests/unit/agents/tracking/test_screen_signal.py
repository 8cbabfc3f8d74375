"""Which screens are stored, and their signals."""

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.tracking.agent_screens import ClassifiedScreen, build_screen_signal, find_moved_at, is_news
from termvisor.clock import NS
from termvisor.model.agent.signal import FlagUpdate, Signal
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
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


def test_a_new_device_code_on_the_same_screen_is_stored():
    code = ScreenReading(state="waiting_input", rule="toy.code_shown", details={"code": "ABCD-1234"})
    assert not is_news(classify(0, code), classify(1, code), 2 * NS)
    assert is_news(classify(0, code), classify(1, replace(code, details={"code": "WXYZ-9876"})), 2 * NS)


@pytest.mark.parametrize(
    ("last", "rows", "state", "moved_at"),
    [
        (("answer", "> "), ("answer", "> typed"), "idle", NOON),
        (("answer", "> "), ("another answer", "> typed"), "idle", NOON + 5),
        (("answer", "> "), ("answer", "> typed"), "running", NOON + 5),
        (None, ("answer", "> typed"), "idle", NOON + 5),
    ],
    ids=["typed text", "an answer", "work", "the first screen"],
)
def test_text_typed_at_the_prompt_is_no_output_of_the_agent(last, rows, state, moved_at):
    before = last and ClassifiedScreen(rows=last, reading=RUNNING, at=NOON, moved_at=NOON)
    screen = Screen(pane=PaneId(1), rows=rows, width=80, height=24, cursor_y=1)
    assert find_moved_at(before, screen, ScreenReading(state=state), NOON + 5) == moved_at


def test_a_notice_in_the_footer_is_no_output_of_the_agent_wherever_its_hidden_cursor_is():
    rule = "─" * 30
    first, second = (("● answer", "", rule, "❯ ", rule, footer) for footer in ("  a notice", "  ? for shortcuts"))
    before = ClassifiedScreen(rows=first, reading=RUNNING, at=NOON, moved_at=NOON)
    screen = Screen(pane=PaneId(1), rows=second, width=80, height=24, cursor_y=6)
    assert find_moved_at(before, screen, ScreenReading(state="completed"), NOON + 5) == NOON


def test_a_screen_becomes_a_whole_signal():
    flags = FlagUpdate(usage_limited=True)
    signal = build_screen_signal(RUNTIME, classify(3, replace(RUNNING, flags=flags)), NOON)
    assert signal == Signal(
        source="screen",
        tier="heuristic",
        agent="toy",
        runtime=RUNTIME.id,
        event_at=NOON + 3 * NS,
        ingested_at=NOON + 3 * NS,
        dedupe_key=f"screen@{NOON + 3 * NS}",
        state="running",
        flags=flags,
        moved_at=NOON,
        look_interval=2 * NS,
        payload={"seconds": 4, "rule": "toy.running"},
        confidence=0.9,
    )


@pytest.mark.parametrize(("confidence", "expected"), [(-1.0, 0.0), (0.5, 0.5), (7.0, 1.0)])
def test_a_confidence_is_a_share(confidence, expected):
    reading = ScreenReading(state="idle", confidence=confidence, details={"a": 1})
    signal = build_screen_signal(RUNTIME, classify(3, reading), None)
    assert (signal.confidence, signal.payload, signal.moved_at) == (expected, {"a": 1}, None)


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
    assert signal.kind == "state"
    remote = replace(RUNTIME, pid=0)
    absent = build_screen_signal(remote, unknown, None)
    assert (absent.kind, absent.state, absent.reason) == ("no_agent", None, None)
    known = build_screen_signal(remote, classify(3), None)
    assert (known.kind, known.state, known.reason) == ("state", "running", None)


@pytest.mark.parametrize(
    "change", [{"state": "idle"}, {"rule": "x"}, {"flags": FlagUpdate(compacting=True)}, {"tasks": 1}]
)
def test_each_field_of_a_reading_is_news(change):
    assert is_news(classify(0), classify(1, replace(RUNNING, **change)), 2 * NS)


def test_a_clock_that_was_set_back_delays_no_repetition():
    assert is_news(classify(100, stored_s=100), classify(95), 2 * NS)
    assert not is_news(classify(100, stored_s=100), classify(95.1), 2 * NS)
