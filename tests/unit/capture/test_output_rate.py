"""Measure the output rate of a pane."""

from termvisor.capture.output_rate import RateMeter


def test_a_quiet_pane_has_no_rate():
    assert RateMeter().compute_rate(100.0) == 0.0


def test_the_rate_is_that_of_the_last_seconds():
    meter = RateMeter()
    meter.count(500, at=1, monotonic=100.0)
    meter.count(500, at=2, monotonic=104.0)
    assert meter.total == 1000
    assert 80 <= meter.compute_rate(105.0) <= 250
    assert meter.last_at == 2


def test_the_rate_of_a_quiet_pane_drops_to_zero_and_its_total_stays():
    meter = RateMeter(total=7)
    meter.count(1000, at=1, monotonic=100.0)
    assert meter.compute_rate(120.0) == 0.0
    assert meter.total == 1007
