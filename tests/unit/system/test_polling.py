"""Polling of a condition."""

from termvisor.system.polling import wait_until


def test_it_looks_until_it_is_so() -> None:
    looks = iter([False, False, True])
    assert wait_until(lambda: next(looks), timeout_s=60.0, interval_s=0.001)


def test_it_gives_up_after_its_time() -> None:
    assert not wait_until(lambda: False, timeout_s=0.0)
