"""Memory and CPU use of a process."""

import os

from termvisor.system.process_usage import ProcessUsageSampler


def test_our_own_process_has_memory_and_time():
    found = ProcessUsageSampler().sample_usage(os.getpid(), 1.0)
    assert found is not None
    assert found.pid == os.getpid()
    assert found.rss_bytes > 1_000_000
    assert found.cpu_seconds > 0
    assert found.cpu_percent == 0.0


def test_the_percentage_is_that_of_the_last_minute(monkeypatch):
    spent = iter([(1000, 10.0), (1000, 10.5), (1000, 40.0), (1000, 40.0)])
    monkeypatch.setattr("termvisor.system.process_usage._read_from_proc", lambda _: next(spent))
    cost = ProcessUsageSampler()
    percents = [cost.sample_usage(7, at).cpu_percent for at in (0.0, 1.0, 100.0, 150.0)]
    assert percents[:2] == [0.0, 50.0]
    assert percents[3] == 0.0


def test_another_process_starts_from_nothing(monkeypatch):
    spent = iter([(1000, 10.0), (1000, 500.0)])
    monkeypatch.setattr("termvisor.system.process_usage._read_from_proc", lambda _: next(spent))
    cost = ProcessUsageSampler()
    cost.sample_usage(7, 0.0)
    assert cost.sample_usage(8, 1.0).cpu_percent == 0.0


def test_no_process_has_no_cost():
    assert ProcessUsageSampler().sample_usage(2**22 + 1, 1.0) is None
