"""Looks that know nothing, dialogs that they do not know, and an agent that fell silent."""

import pytest

from termvisor.agents.state.drift import find_drift, has_shown_dialog
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    ONE,
    build_knowledge,
    build_signal,
    build_working_screens,
    compute_state_at,
    to_ns,
)


def drifts(seconds: float, *facts) -> list[str]:
    ledger = build_knowledge(*facts).ledgers[ONE]
    return [kind for kind, _ in find_drift(ledger, "claude_code", to_ns(seconds), DEFAULT_THRESHOLDS)]


def strange(second: float):
    return build_signal(second, "screen", "unknown", reason="unknown_screen", moved_at=to_ns(second))


def test_screens_that_nobody_knows_while_the_agent_speaks_are_told_once_they_last() -> None:
    seen = [strange(second) for second in range(0, 62, 2)]
    assert drifts(59, *seen[:29], build_signal(40, "hook", "running")) == []
    assert drifts(61, *seen, build_signal(40, "hook", "running")) == ["strange_screens"]


def test_a_strange_screen_of_one_that_said_nothing_meanwhile_may_be_a_menu() -> None:
    seen = [strange(second) for second in range(10, 80, 2)]
    assert drifts(80, build_signal(0, "hook", "running"), *seen) == []
    assert drifts(80, *seen) == []


def test_a_screen_that_is_known_again_is_no_news() -> None:
    seen = [strange(second) for second in range(0, 62, 2)]
    assert drifts(64, *seen, build_signal(40, "hook", "running"), build_working_screens(63)) == []


def test_work_on_the_screen_that_the_agent_does_not_tell_is_told() -> None:
    seen = [build_working_screens(second) for second in range(10, 90, 2)]
    assert drifts(89, build_signal(0, "hook", "idle"), *seen) == ["silent_signals"]
    assert drifts(60, build_signal(0, "hook", "idle"), *seen[:25]) == [], "not for long enough yet"


def test_who_says_that_it_works_is_not_silent() -> None:
    seen = [build_working_screens(second) for second in range(10, 90, 2)]
    assert drifts(89, build_signal(0, "hook", "running"), *seen) == []
    assert drifts(89, *seen) == [], "one that never spoke has nothing to fall silent of"


def test_an_end_that_is_not_told_is_a_known_hole() -> None:
    rest = [build_signal(second, "screen", "idle", moved_at=to_ns(1)) for second in range(10, 90, 2)]
    assert drifts(89, build_signal(0, "hook", "running"), *rest) == []


def test_looks_of_long_ago_say_nothing() -> None:
    seen = [strange(second) for second in range(0, 62, 2)]
    assert drifts(300, *seen, build_signal(40, "hook", "running")) == []


ASKS = build_signal(10, "hook", "waiting_approval")


@pytest.mark.parametrize(
    ("facts", "until", "expected"),
    [
        ([build_signal(12, "screen", "waiting_approval")], 20, True),
        ([build_signal(12, "screen", "unknown", reason="unknown_screen")], 20, False),
        ([build_signal(12, "screen", "idle")], 20, False),
        ([build_signal(12, "screen", "waiting_input"), build_signal(19.9, "screen", "running")], 20, True),
        ([build_signal(9, "screen", "running")], 20, None),
        ([build_signal(12, "screen", "unknown", reason="unknown_screen")], 12.5, None),
        ([], 20, None),
    ],
    ids=["seen", "strange", "taken for rest", "gone just before", "nobody looked", "too short", "no screen"],
)
def test_a_dialog_that_the_agent_told_was_on_its_screen_or_was_not(facts, until: float, expected: bool | None) -> None:
    known = build_knowledge(ASKS, *facts)
    assert has_shown_dialog(known.ledgers[ONE], compute_state_at(build_knowledge(ASKS), 11), to_ns(until)) is expected


def test_who_waits_by_its_screen_alone_proves_nothing() -> None:
    known = build_knowledge(*(build_signal(second, "screen", "waiting_approval") for second in (1, 9)))
    assert has_shown_dialog(known.ledgers[ONE], compute_state_at(known, 10), to_ns(20)) is None
