"""When a repainting pane is looked at."""

from itertools import pairwise

from termvisor.capture.sampling_schedule import APART_FOR, LATEST_AFTER, QUIET_FOR, Pace, Stir
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen_row import Life

LIFE = Life(PaneId(1), EpochId(1), True, 5)


def stir(**how) -> Stir:
    return Stir(PaneId(1), EpochId(1), LIFE, **how)


def looks(pace: Pace, stirs: dict[float, Stir], until: float) -> list[float]:
    """The instants at which looks are taken, stepping through time in hundredths of a second."""
    taken = []
    for step in range(int(until * 100) + 1):
        now = step / 100
        if now in stirs:
            pace.stir(stirs[now], now)
        if pace.due_at is not None and pace.due_at <= now + 1e-9:
            pace.look(now)
            taken.append(now)
    return taken


def test_a_quiet_pane_is_never_looked_at():
    assert looks(Pace(LIFE), {}, 10) == []


def test_a_look_is_taken_once_the_pane_has_been_quiet_for_a_moment():
    assert looks(Pace(LIFE), {1.0: stir(), 1.1: stir()}, 5) == [1.1 + QUIET_FOR]


def test_the_end_of_a_synchronized_update_is_looked_at_at_once():
    assert looks(Pace(LIFE), {1.0: stir(is_painting=True), 1.1: stir(is_painted=True)}, 5) == [1.1]


def test_half_a_picture_is_not_looked_at_before_the_last_moment():
    assert looks(Pace(LIFE), {1.0: stir(is_painting=True)}, 5) == [1.0 + LATEST_AFTER]
    assert looks(Pace(LIFE), {1.0: stir(is_painting=True, is_painted=True)}, 5) == [1.0 + LATEST_AFTER]


def test_a_pane_that_never_pauses_is_looked_at_every_second():
    stirs = {step / 20: stir() for step in range(100)}
    taken = looks(Pace(LIFE), stirs, 4.9)
    assert len(taken) == 4
    assert taken[0] == LATEST_AFTER


def test_there_are_at_most_two_looks_a_second_however_often_it_paints():
    stirs = {step / 50: stir(is_painted=True) for step in range(250)}
    taken = looks(Pace(LIFE), stirs, 4.99)
    assert len(taken) == 10
    assert all(later - earlier >= APART_FOR - 1e-9 for earlier, later in pairwise(taken))


def test_output_that_paints_nothing_asks_for_no_look_but_makes_one_wait():
    assert looks(Pace(LIFE), {1.0: stir(is_sign=False), 2.0: stir(is_sign=False)}, 5) == []
    assert looks(Pace(LIFE), {1.0: stir(), 1.1: stir(is_sign=False)}, 5) == [1.1 + QUIET_FOR]


def test_a_look_that_was_missed_is_tried_again_for_a_while():
    pace = Pace(LIFE)
    pace.stir(stir(), 0.0)
    tries, now = 0, 0.0
    while (due := pace.due_at) is not None:
        now = due
        pace.look(now)
        pace.missed(now)
        tries += 1
    assert tries == 10
    assert now >= 9 * APART_FOR
    pace.stir(stir(), 100.0)
    assert pace.due_at is not None
