"""Events are stored before they are published."""

import pytest

from termvisor.capture.event_log import AlertingRetry, EventLog
from termvisor.errors import VisorError
from termvisor.model.event import Event
from termvisor.testing.fake_clock import FakeClock


async def test_a_published_event_can_be_read_by_id(capture_store):
    pane = await capture_store.add_pane()
    with capture_store.event_log.events.subscribe() as listener:
        await capture_store.event_log.emit("pane_appeared", pane, command="sh", session="work")
        event = await listener.get()
    assert [event] == await capture_store.store.events.list()
    assert (event.kind, event.pane, event.data) == ("pane_appeared", pane, {"command": "sh", "session": "work"})
    assert event.at > 0


async def test_events_are_published_in_the_order_of_their_ids(capture_store):
    with capture_store.event_log.events.subscribe() as listener:
        for number in range(5):
            await capture_store.event_log.emit("alert", what=f"number {number}")
        events = listener.drain()
    assert events == await capture_store.store.events.list(limit=10)


async def test_an_event_that_cannot_be_stored_is_not_published(capture_store):
    with capture_store.event_log.events.subscribe() as listener:
        await capture_store.store.close()
        with pytest.raises(VisorError):
            await capture_store.event_log.emit("alert", what="not stored")
        assert listener.drain() == []


async def test_an_alert_emits_one_event_when_raised_and_one_when_cleared(capture_store):
    event_log = capture_store.event_log
    await event_log.raise_alert("recorder", "it keeps ending")
    await event_log.raise_alert("recorder", "it still keeps ending")
    assert event_log.alerts == {"recorder": "it still keeps ending"}
    await event_log.clear_alert("recorder")
    await event_log.clear_alert("recorder")
    assert event_log.alerts == {}
    assert await capture_store.list_event_kinds() == ["alert", "alert_cleared"]


class FakeEventStore:
    """An event store that only remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def add(self, events: list[Event]) -> list[Event]:
        self.events += events
        return events


def build_retry() -> tuple[FakeClock, EventLog, AlertingRetry, FakeEventStore]:
    clock, store = FakeClock(), FakeEventStore()
    event_log = EventLog(store, clock)
    return clock, event_log, AlertingRetry("link", "the link keeps breaking", event_log), store


async def test_the_first_retries_are_soon_and_the_fifth_failure_raises_an_alert():
    clock, event_log, link, store = build_retry()
    for _ in range(4):
        await link.record_failure("broken pipe")
        assert not link.is_due
        await clock.advance(5)
        assert link.is_due
    assert event_log.alerts == {}
    await link.record_failure("broken pipe")
    await clock.advance(299)
    assert not link.is_due
    message = "the link keeps breaking (broken pipe); next retry in 5 minutes (see `visor logs`)"
    assert event_log.alerts == {"link": message}
    await clock.advance(1)
    assert link.is_due
    await link.record_success()
    assert event_log.alerts == {}
    assert [event.kind for event in store.events] == ["alert", "alert_cleared"]
    assert link.failure_count == 5


async def test_failures_that_are_far_apart_raise_no_alert():
    clock, event_log, link, _ = build_retry()
    for _ in range(20):
        await link.record_failure()
        await link.record_success()
        await clock.advance(151)
    assert event_log.alerts == {}


async def test_clear_alert_keeps_the_failure_history():
    clock, event_log, link, _ = build_retry()
    for _ in range(5):
        await link.record_failure()
    await link.clear_alert()
    assert (event_log.alerts, link.is_due) == ({}, False)
    await clock.advance(300)
    await link.record_failure()
    assert "link" in event_log.alerts
