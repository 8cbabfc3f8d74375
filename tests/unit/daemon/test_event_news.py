"""Detections are told by the ways that are set up; who hangs keeps nobody else waiting."""

import asyncio
from contextlib import suppress

import pytest
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.daemon.event_news import myself, notices, tell_of_events
from termvisor.errors import StorageError, Unavailable
from termvisor.model.detection import Detection, Handling
from termvisor.model.event import Event
from termvisor.model.event_settings import EventSettings
from termvisor.model.ids import EventId, PaneId
from termvisor.testing.world import settled

ONE = Detection(
    event=EventId(5),
    at=1,
    type="usage.reached",
    rule="codex.usage.reached",
    pane=PaneId(7),
    agent="codex",
    severity="error",
    captures={"resets_at": "3pm"},
    source="stream",
)
HOOK = EventSettings(events_ways=("webhook",))


def test_a_notice_names_the_event_and_what_was_captured():
    (notice,) = notices(ONE, HOOK)
    assert notice.title == "usage.reached: codex in pane 7 (event:5)"
    assert notice.text == "severity: error\nrule: codex.usage.reached\nresets_at: 3pm"
    assert notice.way == "webhook"
    assert myself().kind == "workflow"


@pytest.mark.parametrize(
    ("changes", "settings", "is_told"),
    [
        ({}, {}, True),
        ({}, {"events_ways": ()}, False),
        ({"severity": "info"}, {}, False),
        ({"severity": "info"}, {"events_severity": "info"}, True),
        ({}, {"events_types": ("usage.*",)}, True),
        ({}, {"events_types": ("session.*",)}, False),
        ({"handling": Handling(at=1, by="mute:usage.*")}, {}, False),
    ],
)
def test_only_what_was_asked_for_is_told(changes, settings, is_told):
    assert bool(notices(replace(ONE, **changes), replace(HOOK, **settings))) == is_told


class Listening:
    """``tell`` hangs for those whose number is in ``hanging``."""

    def __init__(self, hanging=()):
        self.events, self.told, self.hanging = Bus(), [], set(hanging)

    async def find(self, event):
        if event == 99:
            raise StorageError("the disk is full")
        return replace(ONE, event=event) if event < 90 else None

    async def tell(self, notice):
        number = int(notice.title.rpartition("event:")[2].rstrip(")"))
        if number in self.hanging:
            await asyncio.Event().wait()
        if number == 13:
            raise Unavailable("no")
        self.told.append(number)

    async def hear(self, *events):
        task = asyncio.ensure_future(tell_of_events(self.events, self.find, lambda: HOOK, self.tell))
        await settled()
        for event in events:
            self.events.publish(event)
        await settled()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return self.told


def event(number: int, kind: str = "usage.reached") -> Event:
    return Event(id=EventId(number), at=1, kind=kind, pane=PaneId(7))


async def test_what_hangs_or_fails_keeps_nobody_else_waiting():
    listening = Listening(hanging={1, 2, 3})
    told = await listening.hear(*(event(number) for number in (1, 2, 3, 13, 99, 4, 95, 5)))
    assert told == [4, 5]


async def test_other_events_are_not_told():
    assert await Listening().hear(event(1, "pane_gone"), event(2, "user_var"), event(3)) == [2, 3]
