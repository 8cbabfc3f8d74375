"""A signal that was seen once is never new again, with bounded memory."""

from termvisor.agents.state.signal_admission import SeenSignals, compute_position, is_forgotten, remember_signal
from termvisor.agents.state.thresholds import Thresholds
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import build_signal

FEW = Thresholds(max_seen_signals=3)


def remember_signals(*signals, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> SeenSignals:
    memory = SeenSignals()
    for one in signals:
        memory = remember_signal(memory, one.dedupe_key, compute_position(one), thresholds)
    return memory


def test_keys_are_remembered_for_twelve_minutes() -> None:
    assert len(remember_signals(build_signal(0, "hook"), build_signal(720, "hook")).seen) == 2
    assert len(remember_signals(build_signal(0, "hook"), build_signal(720.1, "hook")).seen) == 1


def test_the_number_of_keys_is_bounded() -> None:
    assert list(remember_signals(*(build_signal(one, "hook") for one in range(9)), thresholds=FEW).seen) == [
        "hook 6 ",
        "hook 7 ",
        "hook 8 ",
    ]


def test_a_signal_older_than_evicted_keys_is_not_new() -> None:
    memory = remember_signals(*(build_signal(one, "hook") for one in range(9)), thresholds=FEW)
    assert is_forgotten(memory, compute_position(build_signal(5, "hook")))
    assert not is_forgotten(memory, compute_position(build_signal(5.1, "hook")))


def test_numbered_signals_may_share_a_timestamp() -> None:
    same = [build_signal(one, "hook", source_seq=one, event_at=7) for one in range(9)]
    assert not is_forgotten(
        remember_signals(*same, thresholds=FEW), compute_position(build_signal(9, "hook", source_seq=9, event_at=7))
    )


def test_a_source_that_catches_up_on_an_hour_is_accepted() -> None:
    """The signals are old, but newer than all forgotten ones."""
    memory = remember_signals(
        build_signal(0, "hook"), build_signal(4000, "hook", event_at=build_signal(1, "hook").event_at)
    )
    assert not is_forgotten(
        memory, compute_position(build_signal(4000, "hook", event_at=build_signal(2, "hook").event_at))
    )
