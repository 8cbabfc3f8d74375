"""Schedule the samples of a repainting pane."""

from itertools import pairwise

from termvisor.capture.screen_sampler import (
    MAX_SAMPLE_DELAY_S,
    MIN_SAMPLE_INTERVAL_S,
    QUIET_DELAY_S,
    PaintActivity,
    RepaintSchedule,
)
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen import ScreenLifetime

LIFETIME = ScreenLifetime(PaneId(1), EpochId(1), True, 5)


def build_activity(**flags) -> PaintActivity:
    return PaintActivity(PaneId(1), EpochId(1), LIFETIME, **flags)


def list_sample_times(schedule: RepaintSchedule, activities: dict[float, PaintActivity], until: float) -> list[float]:
    """Return the instants at which samples are taken, in steps of a hundredth of a second."""
    taken = []
    for step in range(int(until * 100) + 1):
        now = step / 100
        if now in activities:
            schedule.note_activity(activities[now], now)
        if schedule.due_at is not None and schedule.due_at <= now + 1e-9:
            schedule.mark_sampled(now)
            taken.append(now)
    return taken


def test_a_quiet_pane_is_never_sampled():
    assert list_sample_times(RepaintSchedule(LIFETIME), {}, 10) == []


def test_a_sample_is_taken_once_the_pane_is_quiet():
    assert list_sample_times(RepaintSchedule(LIFETIME), {1.0: build_activity(), 1.1: build_activity()}, 5) == [
        1.1 + QUIET_DELAY_S
    ]


def test_the_end_of_a_synchronized_update_is_sampled_at_once():
    assert list_sample_times(
        RepaintSchedule(LIFETIME),
        {1.0: build_activity(is_mid_update=True), 1.1: build_activity(is_update_complete=True)},
        5,
    ) == [1.1]


def test_a_half_painted_screen_is_not_sampled_before_the_deadline():
    assert list_sample_times(RepaintSchedule(LIFETIME), {1.0: build_activity(is_mid_update=True)}, 5) == [
        1.0 + MAX_SAMPLE_DELAY_S
    ]
    assert list_sample_times(
        RepaintSchedule(LIFETIME), {1.0: build_activity(is_mid_update=True, is_update_complete=True)}, 5
    ) == [1.0 + MAX_SAMPLE_DELAY_S]


def test_a_pane_that_never_pauses_is_sampled_every_second():
    activities = {step / 20: build_activity() for step in range(100)}
    taken = list_sample_times(RepaintSchedule(LIFETIME), activities, 4.9)
    assert len(taken) == 4
    assert taken[0] == MAX_SAMPLE_DELAY_S


def test_there_are_at_most_two_samples_a_second():
    activities = {step / 50: build_activity(is_update_complete=True) for step in range(250)}
    taken = list_sample_times(RepaintSchedule(LIFETIME), activities, 4.99)
    assert len(taken) == 10
    assert all(later - earlier >= MIN_SAMPLE_INTERVAL_S - 1e-9 for earlier, later in pairwise(taken))


def test_plain_output_requests_no_sample_but_delays_one():
    assert (
        list_sample_times(
            RepaintSchedule(LIFETIME),
            {1.0: build_activity(is_repaint=False), 2.0: build_activity(is_repaint=False)},
            5,
        )
        == []
    )
    assert list_sample_times(
        RepaintSchedule(LIFETIME), {1.0: build_activity(), 1.1: build_activity(is_repaint=False)}, 5
    ) == [1.1 + QUIET_DELAY_S]


def test_a_missed_sample_is_retried_a_few_times():
    schedule = RepaintSchedule(LIFETIME)
    schedule.note_activity(build_activity(), 0.0)
    tries, now = 0, 0.0
    while (due := schedule.due_at) is not None:
        now = due
        schedule.mark_sampled(now)
        schedule.mark_missed(now)
        tries += 1
    assert tries == 10
    assert now >= 9 * MIN_SAMPLE_INTERVAL_S
    schedule.note_activity(build_activity(), 100.0)
    assert schedule.due_at is not None
