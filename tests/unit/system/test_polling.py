"""Waiting for what can only be looked at."""

from termvisor.system.polling import until


def test_it_looks_until_it_is_so() -> None:
    looks = iter([False, False, True])
    assert until(lambda: next(looks), within=60.0, every=0.001)


def test_it_gives_up_after_its_time() -> None:
    assert not until(lambda: False, within=0.0)
