"""Looks that know nothing, and an agent that fell silent."""

from termvisor.state.drift import signs
from tests.declared import DEFAULT
from tests.unit.state.scene import ONE, at, knowing, says, working


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
