"""One thing that is tried again: when, and what a person sees of it."""

from termvisor.capture.event_log import Chronicle
from termvisor.capture.retry import Attempts
from termvisor.model.event import Event
from termvisor.testing.world import StillClock


class Told:
    """An event store that only remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def add(self, events: list[Event]) -> list[Event]:
        self.events += events
        return events


def begun() -> tuple[StillClock, Chronicle, Attempts, Told]:
    clock, told = StillClock(), Told()
    chronicle = Chronicle(told, clock)
    return clock, chronicle, Attempts("link", "the link keeps breaking", chronicle, clock), told


async def test_the_first_tries_come_soon_and_the_fifth_failure_holds_it_down_with_an_alert():
    clock, chronicle, link, told = begun()
    for _ in range(4):
        await link.failed("broken pipe")
        assert not link.is_due
        await clock.advance(5)
        assert link.is_due
    assert chronicle.alerts == {}
    await link.failed("broken pipe")
    await clock.advance(299)
    assert not link.is_due
    words = "the link keeps breaking (broken pipe); the next try is in five minutes (see `visor logs`)"
    assert chronicle.alerts == {"link": words}
    await clock.advance(1)
    assert link.is_due
    await link.worked()
    assert chronicle.alerts == {}
    assert [event.kind for event in told.events] == ["alert", "alert_cleared"]
    assert link.failures == 5


async def test_failures_that_are_far_apart_are_no_alert():
    clock, chronicle, link, _ = begun()
    for _ in range(20):
        await link.failed()
        await link.worked()
        await clock.advance(151)
    assert chronicle.alerts == {}


async def test_what_is_no_longer_wanted_is_no_alert_but_its_failures_count():
    clock, chronicle, link, _ = begun()
    for _ in range(5):
        await link.failed()
    await link.over()
    assert (chronicle.alerts, link.is_due) == ({}, False)
    await clock.advance(300)
    await link.failed()
    assert "link" in chronicle.alerts
