"""Retry with backoff and an alert."""

from termvisor.capture.event_log import EventLog
from termvisor.capture.retry import AlertingRetry
from termvisor.model.event import Event
from termvisor.testing.fake_clock import FakeClock


class FakeEventStore:
    """An event store that only remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def add(self, events: list[Event]) -> list[Event]:
        self.events += events
        return events


def build_retry() -> tuple[FakeClock, EventLog, AlertingRetry, FakeEventStore]:
    clock, told = FakeClock(), FakeEventStore()
    chronicle = EventLog(told, clock)
    return clock, chronicle, AlertingRetry("link", "the link keeps breaking", chronicle, clock), told


async def test_the_first_tries_come_soon_and_the_fifth_failure_holds_it_down_with_an_alert():
    clock, chronicle, link, told = build_retry()
    for _ in range(4):
        await link.record_failure("broken pipe")
        assert not link.is_due
        await clock.advance(5)
        assert link.is_due
    assert chronicle.alerts == {}
    await link.record_failure("broken pipe")
    await clock.advance(299)
    assert not link.is_due
    words = "the link keeps breaking (broken pipe); next retry in 5 minutes (see `visor logs`)"
    assert chronicle.alerts == {"link": words}
    await clock.advance(1)
    assert link.is_due
    await link.record_success()
    assert chronicle.alerts == {}
    assert [event.kind for event in told.events] == ["alert", "alert_cleared"]
    assert link.failure_count == 5


async def test_failures_that_are_far_apart_are_no_alert():
    clock, chronicle, link, _ = build_retry()
    for _ in range(20):
        await link.record_failure()
        await link.record_success()
        await clock.advance(151)
    assert chronicle.alerts == {}


async def test_clear_alert_keeps_the_failure_history():
    clock, chronicle, link, _ = build_retry()
    for _ in range(5):
        await link.record_failure()
    await link.clear_alert()
    assert (chronicle.alerts, link.is_due) == ({}, False)
    await clock.advance(300)
    await link.record_failure()
    assert "link" in chronicle.alerts
