"""What was heard once is never new again, and little is kept to know that."""

from termvisor.agents.state.seen_signals import Memory, is_forgotten, remembered
from termvisor.agents.state.signal_order import position
from termvisor.agents.state.thresholds import Measure
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import says

FEW = Measure(remembered=3)


def after(*signals, measure: Measure = DEFAULT) -> Memory:
    memory = Memory()
    for one in signals:
        memory = remembered(memory, one.dedupe_key, position(one), measure)
    return memory


def test_keys_are_kept_for_twelve_minutes() -> None:
    assert len(after(says(0, "hook"), says(720, "hook")).seen) == 2
    assert len(after(says(0, "hook"), says(720.1, "hook")).seen) == 1


def test_only_so_many_are_kept() -> None:
    assert list(after(*(says(one, "hook") for one in range(9)), measure=FEW).seen) == ["hook 6 ", "hook 7 ", "hook 8 "]


def test_what_is_older_than_the_forgotten_is_not_new() -> None:
    memory = after(*(says(one, "hook") for one in range(9)), measure=FEW)
    assert is_forgotten(memory, position(says(5, "hook")))
    assert not is_forgotten(memory, position(says(5.1, "hook")))


def test_a_source_that_numbers_its_words_may_give_them_all_one_time() -> None:
    same = [says(one, "hook", source_seq=one, event_at=7) for one in range(9)]
    assert not is_forgotten(after(*same, measure=FEW), position(says(9, "hook", source_seq=9, event_at=7)))


def test_one_that_reads_up_on_an_hour_is_heard() -> None:
    """What it reads is old, but newer than all that was forgotten."""
    memory = after(says(0, "hook"), says(4000, "hook", event_at=says(1, "hook").event_at))
    assert not is_forgotten(memory, position(says(4000, "hook", event_at=says(2, "hook").event_at)))
