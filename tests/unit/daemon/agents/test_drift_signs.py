"""Drift: unknown screens, unknown dialogs, silent native sources."""

import pytest

from termvisor.daemon.agents.drift_monitor import find_drift, has_shown_dialog
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    ONE,
    build_knowledge,
    build_signal,
    build_working_screens,
    compute_state_at,
    to_ns,
)


def find_drifts(seconds: float, *facts) -> list[str]:
    ledger = build_knowledge(*facts).source_slots[ONE]
    return [kind for kind, _ in find_drift(ledger, "claude_code", to_ns(seconds), DEFAULT_THRESHOLDS)]


def build_unknown_screen(second: float):
    return build_signal(second, "screen", "unknown", reason="unknown_screen", moved_at=to_ns(second))


def test_unknown_screens_with_native_signals_are_drift_after_a_while() -> None:
    seen = [build_unknown_screen(second) for second in range(0, 62, 2)]
    assert find_drifts(59, *seen[:29], build_signal(40, "hook", "running")) == []
    assert find_drifts(61, *seen, build_signal(40, "hook", "running")) == ["strange_screens"]


def test_an_unknown_screen_without_native_signals_may_be_a_menu() -> None:
    seen = [build_unknown_screen(second) for second in range(10, 80, 2)]
    assert find_drifts(80, build_signal(0, "hook", "running"), *seen) == []
    assert find_drifts(80, *seen) == []


def test_screens_of_which_none_was_ever_recognized_are_drift_without_native_signals() -> None:
    slots = build_knowledge(*(build_unknown_screen(second) for second in range(10, 80, 2))).source_slots[ONE]
    for seconds, expected in ((60, []), (80, ["strange_screens"])):
        found = find_drift(slots, "claude_code", to_ns(seconds), DEFAULT_THRESHOLDS, is_never_recognized=True)
        assert [kind for kind, _ in found] == expected


def test_a_known_screen_ends_the_drift() -> None:
    seen = [build_unknown_screen(second) for second in range(0, 62, 2)]
    assert find_drifts(64, *seen, build_signal(40, "hook", "running"), build_working_screens(63)) == []


def test_unreported_work_on_the_screen_is_drift() -> None:
    seen = [build_working_screens(second) for second in range(10, 90, 2)]
    assert find_drifts(89, build_signal(0, "hook", "idle"), *seen) == ["silent_signals"]
    assert find_drifts(60, build_signal(0, "hook", "idle"), *seen[:25]) == [], "not for long enough yet"


def test_reported_work_is_no_drift() -> None:
    seen = [build_working_screens(second) for second in range(10, 90, 2)]
    assert find_drifts(89, build_signal(0, "hook", "running"), *seen) == []
    assert find_drifts(89, *seen) == [], "one that never spoke has nothing to fall silent of"


def test_an_unreported_end_is_no_drift() -> None:
    rest = [build_signal(second, "screen", "idle", moved_at=to_ns(1)) for second in range(10, 90, 2)]
    assert find_drifts(89, build_signal(0, "hook", "running"), *rest) == []


def test_old_screens_prove_nothing() -> None:
    seen = [build_unknown_screen(second) for second in range(0, 62, 2)]
    assert find_drifts(300, *seen, build_signal(40, "hook", "running")) == []


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
    ids=["seen", "strange", "taken for rest", "gone just before", "no screen sampled", "too short", "no screen"],
)
def test_a_reported_dialog_was_shown_or_not(facts, until: float, expected: bool | None) -> None:
    known = build_knowledge(ASKS, *facts)
    assert (
        has_shown_dialog(known.source_slots[ONE], compute_state_at(build_knowledge(ASKS), 11), to_ns(until)) is expected
    )


def test_waiting_known_only_from_the_screen_proves_nothing() -> None:
    known = build_knowledge(*(build_signal(second, "screen", "waiting_approval") for second in (1, 9)))
    assert has_shown_dialog(known.source_slots[ONE], compute_state_at(known, 10), to_ns(20)) is None
