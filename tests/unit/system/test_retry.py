"""Retry times."""

from itertools import pairwise

from termvisor.system.retry import Backoff, wait_until


def test_waits_grow_and_are_jittered():
    backoff = Backoff()
    waits = [backoff.record_failure(0.0) for _ in range(4)]
    assert 0.2 <= waits[0] <= 0.3
    assert all(later > earlier for earlier, later in pairwise(waits))


def test_five_failures_in_ten_minutes_hold_down_for_five():
    backoff = Backoff()
    at = [backoff.record_failure(float(second)) for second in range(5)][-1]
    assert backoff.is_held_down
    assert at == 4 + 300


def test_success_starts_over_but_old_failures_still_count():
    backoff = Backoff()
    for _ in range(4):
        backoff.record_failure(0.0)
    backoff.record_success()
    assert not backoff.is_held_down
    assert backoff.record_failure(1.0) == 301.0


def test_old_failures_are_forgotten():
    backoff = Backoff()
    for _ in range(4):
        backoff.record_failure(0.0)
    backoff.record_success()
    assert backoff.record_failure(700.0) < 701.0


def test_wait_until_polls_until_the_condition_holds() -> None:
    results = iter([False, False, True])
    assert wait_until(lambda: next(results), timeout_s=60.0, interval_s=0.001)


def test_wait_until_returns_false_after_the_timeout() -> None:
    assert not wait_until(lambda: False, timeout_s=0.0)
