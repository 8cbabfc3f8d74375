"""What each source last said: doubled and late words leave no trace."""

from itertools import permutations

import pytest

from termvisor.agents.state.source_slots import Ledger, hear
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import at, says, shows


def heard(*signals) -> Ledger:
    ledger = Ledger()
    for signal in signals:
        ledger, _ = hear(ledger, signal, DEFAULT)
    return ledger


def drops(ledger: Ledger, signal) -> str | None:
    after, why = hear(ledger, signal, DEFAULT)
    assert (after == ledger) is (why is not None)
    return why


def test_the_same_word_twice_is_one() -> None:
    first = says(1, "hook", "running", dedupe_key="x")
    assert drops(heard(first), says(9, "hook", "idle", dedupe_key="x")) == "duplicate"


@pytest.mark.parametrize(
    ("last", "next_", "why"),
    [
        (says(5, "hook", "running"), says(4, "hook", "idle"), "late_event"),
        (says(5, "hook", "running"), says(6, "hook", "idle"), None),
        (says(5, "hook", "running", source_seq=9), says(6, "hook", "idle", source_seq=8), "late_event"),
        (says(5, "hook", "running", source_seq=9), says(4, "hook", "idle", source_seq=10), None),
        (says(5, "hook", "running", source_seq=9), says(6, "hook", "idle", source_seq=1, source_life=1), None),
        (says(5, "hook", "running", event_at=at(9999)), says(6, "hook", "idle"), None),
        (says(5, "hook", "running"), says(4, "registry", "idle"), None),
    ],
    ids=["older", "newer", "lower number", "higher number", "a new life", "a clock ahead of ours", "another source"],
)
def test_only_a_newer_word_of_the_same_source_counts(last, next_, why: str | None) -> None:
    assert drops(heard(last), next_) == why


def test_the_same_state_told_again_is_as_old_as_the_first() -> None:
    said = heard(says(1, "hook", "running"), says(5, "hook", "running")).slots["hook"].said
    assert said is not None
    assert (said.since, said.at) == (at(1), at(5))


def test_the_order_of_sources_does_not_matter() -> None:
    signals = [says(3, "hook", "running"), says(1, "registry", "idle"), says(2, "osc", "idle"), shows(1, "idle")]
    assert all(heard(*shuffled) == heard(*signals) for shuffled in permutations(signals))


def test_a_heartbeat_is_a_sign_of_life_and_no_statement() -> None:
    slot = heard(says(1, "hook", "running"), says(5, "hook")).slots["hook"]
    assert slot.said is not None
    assert (slot.heard_at, slot.said.at) == (at(5), at(1))


def test_a_clock_of_ours_that_was_set_back_makes_no_source_older() -> None:
    slot = heard(says(5, "hook", "running", source_seq=1), says(3, "hook", "idle", source_seq=2)).slots["hook"]
    assert slot.said is not None
    assert (slot.heard_at, slot.said.state) == (at(5), "idle")


def test_a_source_that_speaks_again_is_no_longer_down() -> None:
    down = heard(says(1, "hook", kind="source_down"))
    assert down.slots["hook"].is_down
    assert not heard(says(1, "hook", kind="source_down"), says(2, "hook")).slots["hook"].is_down


def test_a_task_that_ended_long_ago_does_not_come_back() -> None:
    began, ended = says(1, "hook", kind="task_began", task="a"), says(2, "hook", kind="task_ended", task="a")
    ledger = heard(began, ended, says(900, "hook", kind="task_began", task="b"))
    assert drops(ledger, began) == "late_event"


def test_a_title_stays_until_another_is_told() -> None:
    ledger = heard(says(1, "hook", kind="note", title="Fix the build"), says(2, "hook", "running"))
    assert ledger.slots["hook"].title == "Fix the build"


def test_looks_without_an_agent_are_counted_in_a_row() -> None:
    missed = [says(one, "screen", kind="no_agent") for one in (1, 2)]
    assert heard(*missed).slots["screen"].misses == 2
    assert heard(*missed, says(3, "screen")).slots["screen"].misses == 2
    assert heard(*missed, shows(3, "idle")).slots["screen"].misses == 0
