"""The last statement of each source; duplicate and late signals change nothing."""

from itertools import permutations

import pytest

from termvisor.agents.state.source_slots import SourceSlot, SourceSlots, apply_signal, find_last_dialog_time
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import build_screen_signal, build_signal, to_ns


def apply_signals(*signals) -> SourceSlots:
    slots = SourceSlots()
    for signal in signals:
        slots, _ = apply_signal(slots, signal, DEFAULT_THRESHOLDS)
    return slots


def find_drop_reason(slots: SourceSlots, signal) -> str | None:
    after, reason = apply_signal(slots, signal, DEFAULT_THRESHOLDS)
    assert (after == slots) is (reason is not None)
    return reason


def test_a_duplicate_changes_nothing() -> None:
    first = build_signal(1, "hook", "running", dedupe_key="x")
    assert find_drop_reason(apply_signals(first), build_signal(9, "hook", "idle", dedupe_key="x")) == "duplicate"


@pytest.mark.parametrize(
    ("last", "next_", "reason"),
    [
        (build_signal(5, "hook", "running"), build_signal(4, "hook", "idle"), "late_event"),
        (build_signal(5, "hook", "running"), build_signal(6, "hook", "idle"), None),
        (build_signal(5, "hook", "running", source_seq=9), build_signal(6, "hook", "idle", source_seq=8), "late_event"),
        (build_signal(5, "hook", "running", source_seq=9), build_signal(4, "hook", "idle", source_seq=10), None),
        (
            build_signal(5, "hook", "running", source_seq=9),
            build_signal(6, "hook", "idle", source_seq=1, source_life=1),
            None,
        ),
        (build_signal(5, "hook", "running", event_at=to_ns(9999)), build_signal(6, "hook", "idle"), None),
        (build_signal(5, "hook", "running"), build_signal(4, "registry", "idle"), None),
        (build_signal(5, "hook", "running"), build_signal(5, "hook", "idle", dedupe_key="other"), "late_event"),
    ],
    ids=[
        "older",
        "newer",
        "lower number",
        "higher number",
        "a new life",
        "a clock that is ahead",
        "another source",
        "the same place",
    ],
)
def test_only_a_newer_signal_of_the_same_source_counts(last, next_, reason: str | None) -> None:
    assert find_drop_reason(apply_signals(last), next_) == reason


def test_a_repeated_state_keeps_its_start() -> None:
    statement = (
        apply_signals(build_signal(1, "hook", "running"), build_signal(5, "hook", "running")).slots["hook"].statement
    )
    assert statement is not None
    assert (statement.since, statement.at) == (to_ns(1), to_ns(5))


def test_the_order_of_sources_does_not_matter() -> None:
    signals = [
        build_signal(3, "hook", "running"),
        build_signal(1, "registry", "idle"),
        build_signal(2, "osc", "idle"),
        build_screen_signal(1, "idle"),
    ]
    assert all(apply_signals(*shuffled) == apply_signals(*signals) for shuffled in permutations(signals))


def test_a_heartbeat_refreshes_without_a_statement() -> None:
    slot = apply_signals(build_signal(1, "hook", "running"), build_signal(5, "hook")).slots["hook"]
    assert slot.statement is not None
    assert (slot.heard_at, slot.statement.at) == (to_ns(5), to_ns(1))


def test_heard_at_does_not_decrease_when_the_clock_is_set_back() -> None:
    slot = apply_signals(
        build_signal(5, "hook", "running", source_seq=1), build_signal(3, "hook", "idle", source_seq=2)
    ).slots["hook"]
    assert slot.statement is not None
    assert (slot.heard_at, slot.statement.state) == (to_ns(5), "idle")


def test_a_new_signal_clears_is_down() -> None:
    down = apply_signals(build_signal(1, "hook", kind="source_down"))
    assert down.slots["hook"].is_down
    assert not apply_signals(build_signal(1, "hook", kind="source_down"), build_signal(2, "hook")).slots["hook"].is_down


def test_a_task_that_ended_long_ago_does_not_restart() -> None:
    began, ended = (
        build_signal(1, "hook", kind="task_began", task="a"),
        build_signal(2, "hook", kind="task_ended", task="a"),
    )
    slots = apply_signals(began, ended, build_signal(900, "hook", kind="task_began", task="b"))
    assert find_drop_reason(slots, began) == "late_event"


def test_a_title_stays_until_replaced() -> None:
    slots = apply_signals(
        build_signal(1, "hook", kind="note", title="Fix the build"), build_signal(2, "hook", "running")
    )
    assert slots.slots["hook"].title == "Fix the build"


def test_consecutive_screens_without_an_agent_are_counted() -> None:
    missed = [build_signal(one, "screen", kind="no_agent") for one in (1, 2)]
    assert apply_signals(*missed).slots["screen"].misses == 2
    assert apply_signals(*missed, build_signal(3, "screen")).slots["screen"].misses == 2
    assert apply_signals(*missed, build_screen_signal(3, "idle")).slots["screen"].misses == 0


def test_the_last_dialog_is_remembered_until_the_screen_has_settled() -> None:
    asked, gone = build_screen_signal(3, "waiting_approval"), build_screen_signal(5, "idle")
    assert find_last_dialog_time(apply_signals(build_signal(2, "hook", "waiting_approval"))) == 0
    assert find_last_dialog_time(apply_signals(asked)) == to_ns(3)
    assert find_last_dialog_time(apply_signals(asked, gone)) == to_ns(3)


def test_a_repeated_statement_keeps_the_one_before_it() -> None:
    hook = apply_signals(
        build_signal(1, "hook", "running"), build_signal(5, "hook", "idle"), build_signal(6, "hook", "idle")
    ).slots["hook"]
    assert (hook.previous_statement.state, hook.statement.state, hook.statement.since) == ("running", "idle", to_ns(5))
    screen = apply_signals(build_screen_signal(1, "running", moved=1), build_screen_signal(5, "error")).slots["screen"]
    assert screen.previous_statement is None


def test_a_heartbeat_of_a_screen_changes_nothing_that_it_showed() -> None:
    shown = build_screen_signal(1, "running", moved=1, payload={"rule": "working"})
    (before,) = apply_signals(shown).slots.values()
    (after,) = apply_signals(shown, build_signal(2, "screen")).slots.values()
    assert (after.rule, after.screen_history, after.statement, after.misses) == (
        "working", before.screen_history, before.statement, 0,
    )  # fmt: skip
    (later,) = apply_signals(shown, build_screen_signal(3, "running", moved=3)).slots.values()
    assert later.rule == ""
    (told,) = apply_signals(build_signal(1, "hook", "running", payload={"rule": "x"})).slots.values()
    assert (told.rule, told.screen_history) == ("", SourceSlot().screen_history)
