"""When a repainting pane is looked at."""

from itertools import pairwise

from termvisor.capture.sampling_schedule import (
    MAX_SAMPLE_DELAY_S,
    MIN_SAMPLE_INTERVAL_S,
    QUIET_DELAY_S,
    PaintActivity,
    SamplingSchedule,
)
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen_row import ScreenLifetime

LIFE = ScreenLifetime(PaneId(1), EpochId(1), True, 5)


def stir(**how) -> PaintActivity:
    return PaintActivity(PaneId(1), EpochId(1), LIFE, **how)


def looks(pace: SamplingSchedule, stirs: dict[float, PaintActivity], until: float) -> list[float]:
    """The instants at which looks are taken, stepping through time in hundredths of a second."""
    taken = []
    for step in range(int(until * 100) + 1):
        now = step / 100
        if now in stirs:
            pace.note_activity(stirs[now], now)
        if pace.due_at is not None and pace.due_at <= now + 1e-9:
            pace.mark_sampled(now)
            taken.append(now)
    return taken


def test_a_quiet_pane_is_never_looked_at():
    assert looks(SamplingSchedule(LIFE), {}, 10) == []


def test_a_look_is_taken_once_the_pane_has_been_quiet_for_a_moment():
    assert looks(SamplingSchedule(LIFE), {1.0: stir(), 1.1: stir()}, 5) == [1.1 + QUIET_DELAY_S]


def test_the_end_of_a_synchronized_update_is_looked_at_at_once():
    assert looks(SamplingSchedule(LIFE), {1.0: stir(is_painting=True), 1.1: stir(is_painted=True)}, 5) == [1.1]


def test_half_a_picture_is_not_looked_at_before_the_last_moment():
    assert looks(SamplingSchedule(LIFE), {1.0: stir(is_painting=True)}, 5) == [1.0 + MAX_SAMPLE_DELAY_S]
    assert looks(SamplingSchedule(LIFE), {1.0: stir(is_painting=True, is_painted=True)}, 5) == [
        1.0 + MAX_SAMPLE_DELAY_S
    ]


def test_a_pane_that_never_pauses_is_looked_at_every_second():
    stirs = {step / 20: stir() for step in range(100)}
    taken = looks(SamplingSchedule(LIFE), stirs, 4.9)
    assert len(taken) == 4
    assert taken[0] == MAX_SAMPLE_DELAY_S


def test_there_are_at_most_two_looks_a_second_however_often_it_paints():
    stirs = {step / 50: stir(is_painted=True) for step in range(250)}
    taken = looks(SamplingSchedule(LIFE), stirs, 4.99)
    assert len(taken) == 10
    assert all(later - earlier >= MIN_SAMPLE_INTERVAL_S - 1e-9 for earlier, later in pairwise(taken))


def test_output_that_paints_nothing_asks_for_no_look_but_makes_one_wait():
    assert looks(SamplingSchedule(LIFE), {1.0: stir(is_sign=False), 2.0: stir(is_sign=False)}, 5) == []
    assert looks(SamplingSchedule(LIFE), {1.0: stir(), 1.1: stir(is_sign=False)}, 5) == [1.1 + QUIET_DELAY_S]


def test_a_look_that_was_missed_is_tried_again_for_a_while():
    pace = SamplingSchedule(LIFE)
    pace.note_activity(stir(), 0.0)
    tries, now = 0, 0.0
    while (due := pace.due_at) is not None:
        now = due
        pace.mark_sampled(now)
        pace.mark_missed(now)
        tries += 1
    assert tries == 10
    assert now >= 9 * MIN_SAMPLE_INTERVAL_S
    pace.note_activity(stir(), 100.0)
    assert pace.due_at is not None
