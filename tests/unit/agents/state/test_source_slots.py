"""What each source last said: doubled and late words leave no trace."""

from itertools import permutations

import pytest

from termvisor.agents.state.source_slots import SourceSlots, apply_signal
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import build_screen_signal, build_signal, to_ns


def heard(*signals) -> SourceSlots:
    ledger = SourceSlots()
    for signal in signals:
        ledger, _ = apply_signal(ledger, signal, DEFAULT_THRESHOLDS)
    return ledger


def drops(ledger: SourceSlots, signal) -> str | None:
    after, why = apply_signal(ledger, signal, DEFAULT_THRESHOLDS)
    assert (after == ledger) is (why is not None)
    return why


def test_the_same_word_twice_is_one() -> None:
    first = build_signal(1, "hook", "running", dedupe_key="x")
    assert drops(heard(first), build_signal(9, "hook", "idle", dedupe_key="x")) == "duplicate"


@pytest.mark.parametrize(
    ("last", "next_", "why"),
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
    ],
    ids=["older", "newer", "lower number", "higher number", "a new life", "a clock ahead of ours", "another source"],
)
def test_only_a_newer_word_of_the_same_source_counts(last, next_, why: str | None) -> None:
    assert drops(heard(last), next_) == why


def test_the_same_state_told_again_is_as_old_as_the_first() -> None:
    said = heard(build_signal(1, "hook", "running"), build_signal(5, "hook", "running")).slots["hook"].said
    assert said is not None
    assert (said.since, said.at) == (to_ns(1), to_ns(5))


def test_the_order_of_sources_does_not_matter() -> None:
    signals = [
        build_signal(3, "hook", "running"),
        build_signal(1, "registry", "idle"),
        build_signal(2, "osc", "idle"),
        build_screen_signal(1, "idle"),
    ]
    assert all(heard(*shuffled) == heard(*signals) for shuffled in permutations(signals))


def test_a_heartbeat_is_a_sign_of_life_and_no_statement() -> None:
    slot = heard(build_signal(1, "hook", "running"), build_signal(5, "hook")).slots["hook"]
    assert slot.said is not None
    assert (slot.heard_at, slot.said.at) == (to_ns(5), to_ns(1))


def test_a_clock_of_ours_that_was_set_back_makes_no_source_older() -> None:
    slot = heard(build_signal(5, "hook", "running", source_seq=1), build_signal(3, "hook", "idle", source_seq=2)).slots[
        "hook"
    ]
    assert slot.said is not None
    assert (slot.heard_at, slot.said.state) == (to_ns(5), "idle")


def test_a_source_that_speaks_again_is_no_longer_down() -> None:
    down = heard(build_signal(1, "hook", kind="source_down"))
    assert down.slots["hook"].is_down
    assert not heard(build_signal(1, "hook", kind="source_down"), build_signal(2, "hook")).slots["hook"].is_down


def test_a_task_that_ended_long_ago_does_not_come_back() -> None:
    began, ended = (
        build_signal(1, "hook", kind="task_began", task="a"),
        build_signal(2, "hook", kind="task_ended", task="a"),
    )
    ledger = heard(began, ended, build_signal(900, "hook", kind="task_began", task="b"))
    assert drops(ledger, began) == "late_event"


def test_a_title_stays_until_another_is_told() -> None:
    ledger = heard(build_signal(1, "hook", kind="note", title="Fix the build"), build_signal(2, "hook", "running"))
    assert ledger.slots["hook"].title == "Fix the build"


def test_looks_without_an_agent_are_counted_in_a_row() -> None:
    missed = [build_signal(one, "screen", kind="no_agent") for one in (1, 2)]
    assert heard(*missed).slots["screen"].misses == 2
    assert heard(*missed, build_signal(3, "screen")).slots["screen"].misses == 2
    assert heard(*missed, build_screen_signal(3, "idle")).slots["screen"].misses == 0
