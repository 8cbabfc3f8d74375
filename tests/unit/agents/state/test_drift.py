"""Looks that know nothing, dialogs that they do not know, and an agent that fell silent."""

import pytest

from termvisor.agents.state.drift import signs, was_seen
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import ONE, at, knowing, says, seen, working


def drifts(seconds: float, *facts) -> list[str]:
    ledger = knowing(*facts).ledgers[ONE]
    return [kind for kind, _ in signs(ledger, "claude_code", at(seconds), DEFAULT)]


def strange(second: float):
    return says(second, "screen", "unknown", reason="unknown_screen", moved_at=at(second))


def test_screens_that_nobody_knows_while_the_agent_speaks_are_told_once_they_last() -> None:
    seen = [strange(second) for second in range(0, 62, 2)]
    assert drifts(59, *seen[:29], says(40, "hook", "running")) == []
    assert drifts(61, *seen, says(40, "hook", "running")) == ["strange_screens"]


def test_a_strange_screen_of_one_that_said_nothing_meanwhile_may_be_a_menu() -> None:
    seen = [strange(second) for second in range(10, 80, 2)]
    assert drifts(80, says(0, "hook", "running"), *seen) == []
    assert drifts(80, *seen) == []


def test_a_screen_that_is_known_again_is_no_news() -> None:
    seen = [strange(second) for second in range(0, 62, 2)]
    assert drifts(64, *seen, says(40, "hook", "running"), working(63)) == []


def test_work_on_the_screen_that_the_agent_does_not_tell_is_told() -> None:
    seen = [working(second) for second in range(10, 90, 2)]
    assert drifts(89, says(0, "hook", "idle"), *seen) == ["silent_signals"]
    assert drifts(60, says(0, "hook", "idle"), *seen[:25]) == [], "not for long enough yet"


def test_who_says_that_it_works_is_not_silent() -> None:
    seen = [working(second) for second in range(10, 90, 2)]
    assert drifts(89, says(0, "hook", "running"), *seen) == []
    assert drifts(89, *seen) == [], "one that never spoke has nothing to fall silent of"


def test_an_end_that_is_not_told_is_a_known_hole() -> None:
    rest = [says(second, "screen", "idle", moved_at=at(1)) for second in range(10, 90, 2)]
    assert drifts(89, says(0, "hook", "running"), *rest) == []


def test_looks_of_long_ago_say_nothing() -> None:
    seen = [strange(second) for second in range(0, 62, 2)]
    assert drifts(300, *seen, says(40, "hook", "running")) == []


ASKS = says(10, "hook", "waiting_approval")


@pytest.mark.parametrize(
    ("facts", "until", "expected"),
    [
        ([says(12, "screen", "waiting_approval")], 20, True),
        ([says(12, "screen", "unknown", reason="unknown_screen")], 20, False),
        ([says(12, "screen", "idle")], 20, False),
        ([says(12, "screen", "waiting_input"), says(19.9, "screen", "running")], 20, True),
        ([says(9, "screen", "running")], 20, None),
        ([says(12, "screen", "unknown", reason="unknown_screen")], 12.5, None),
        ([], 20, None),
    ],
    ids=["seen", "strange", "taken for rest", "gone just before", "nobody looked", "too short", "no screen"],
)
def test_a_dialog_that_the_agent_told_was_on_its_screen_or_was_not(facts, until: float, expected: bool | None) -> None:
    known = knowing(ASKS, *facts)
    assert was_seen(known.ledgers[ONE], seen(knowing(ASKS), 11), at(until)) is expected


def test_who_waits_by_its_screen_alone_proves_nothing() -> None:
    known = knowing(*(says(second, "screen", "waiting_approval") for second in (1, 9)))
    assert was_seen(known.ledgers[ONE], seen(known, 10), at(20)) is None
