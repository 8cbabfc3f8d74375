"""Detections are notified at least once through each channel; a channel that hangs delays no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.daemon.acting.event_notifications import (
    MAX_AGE_NS,
    MAX_BACKLOG_PER_CHANNEL,
    MAX_TRIES,
    EventNotifier,
    build_actor,
    build_notices,
    build_pending,
    build_summaries,
    split_pending,
)
from termvisor.errors import Unavailable
from termvisor.model.action.action import Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.detection.detection import Detection, DetectionHandling
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId
from termvisor.model.settings.detections import DetectionSettings
from termvisor.testing.fake_clock import FakeClock
from tests.unit.wait_until import wait_until

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
HOOK = DetectionSettings(events_ways=("webhook",))
OFF = DetectionSettings()


def test_a_notice_names_the_event_and_what_was_captured():
    (notice,) = build_notices(ONE, HOOK)
    assert notice.title == "usage.reached: codex in pane 7 (event:5)"
    assert notice.text == "severity: error\nrule: codex.usage.reached\nresets_at: 3pm"
    assert notice.way == "webhook"
    assert build_actor().kind == "workflow"


@pytest.mark.parametrize(
    ("changes", "settings", "is_told"),
    [
        ({}, {}, True),
        ({}, {"events_ways": ()}, False),
        ({"severity": "info"}, {}, False),
        ({"severity": "info"}, {"events_severity": "info"}, True),
        ({}, {"events_types": ("usage.*",)}, True),
        ({}, {"events_types": ("session.*",)}, False),
        ({"handling": DetectionHandling(at=1, by="mute:usage.*")}, {}, False),
    ],
)
def test_only_selected_detections_are_notified(changes, settings, is_told):
    assert bool(build_notices(replace(ONE, **changes), replace(HOOK, **settings))) == is_told


def owed(number: int, at: int = 0, tries: int = 0, way: str = "webhook") -> PendingNotification:
    return PendingNotification(
        id=number, key=f"event.{number}.{way}.x", at=at, action=Notify(title="t", text="", way=way), tries=tries
    )


def test_what_is_old_or_was_begun_too_often_or_is_too_much_is_left_out():
    old, often = owed(1, at=0), owed(2, at=MAX_AGE_NS, tries=MAX_TRIES)
    many = [owed(number, at=MAX_AGE_NS + 1) for number in range(3, 10)]
    other = owed(10, at=MAX_AGE_NS + 1, way="command")
    told, left = split_pending([old, often, *many, other], MAX_AGE_NS + 1, 5)
    assert told == [*many[2:], other]
    assert left == [old, often, *many[:2]]
    assert split_pending(many, MAX_AGE_NS + 1) == (many, [])


def test_what_is_left_out_is_one_notice_a_way_which_is_not_begun_for_ever():
    sums = build_summaries([owed(1), owed(2), owed(3, way="command")], 9)
    assert [(one.action.way, one.action.title, one.at) for one in sums] == [
        ("webhook", "2 events were not notified in time", 9),
        ("command", "1 event was not notified in time", 9),
    ]
    (again,) = build_summaries([sums[0], owed(4)], 10)
    assert again.action.title == "3 events were not notified in time"
    assert build_summaries([replace(again, tries=MAX_TRIES)], 11) == []


def test_two_machines_never_give_two_notices_one_key():
    (mine,), (yours,) = build_pending(ONE, HOOK), build_pending(ONE, HOOK)
    assert mine.key != yours.key


class Town:
    """A store with a pane, and daemons that come and go. ``tell`` hangs for the numbers in ``hanging``."""

    def __init__(self, store, pane: PaneId):
        self.store, self.pane, self.clock, self.settings = store, pane, FakeClock(), HOOK
        self.events, self.hanging = Bus(), set()
        self.begun: list[tuple[int, str]] = []
        self.told: list[int] = []

    async def happens(self, *numbers: int, ago: int = 0) -> None:
        """An event is stored, and then told of; the number is what was captured."""
        for number in numbers:
            seen = replace(ONE, pane=self.pane, at=self.clock.now() - ago, captures={"n": str(number)})
            for event in await self.store.detections.add([seen]):
                self.events.publish(event)

    async def tell(self, notice: Notify, key: str) -> None:
        number = int(notice.text.rpartition("n: ")[2]) if "n: " in notice.text else -int(notice.title.split()[0])
        self.begun.append((number, key))
        if number in self.hanging:
            await asyncio.Event().wait()
        if number == 13:
            raise Unavailable("no")
        self.told.append(number)

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[None]:
        self.notifier = EventNotifier(
            events=self.events,
            store=self.store,
            get_settings=lambda: self.settings,
            send=self.tell,
            clock=self.clock,
        )
        task = asyncio.ensure_future(self.notifier.run())
        await wait_until(lambda: self.events._subscriptions)
        await until_async(self._is_settled)
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _is_settled(self) -> bool:
        return not self.settings.events_ways or await self.store.notification_outbox.read_cursor() is not None

    async def owed(self) -> int:
        return len(await self.store.notification_outbox.list_pending())


async def until_async(look) -> None:
    for _ in range(500):
        if await look():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


@pytest.fixture
async def town(store, new_pane):
    return Town(store, await new_pane())


async def test_a_hanging_or_failing_send_delays_no_other(town):
    town.hanging = {1, 2, 3}
    async with town.daemon():
        await town.happens(1, 2, 3, 13, 4, 5)
        await wait_until(lambda: sorted(town.told) == [4, 5])
        await until_async(lambda: _is(town, 3))


async def _is(town: Town, count: int) -> bool:
    return await town.owed() == count


async def test_pending_notifications_survive_a_crash_under_the_same_key(town):
    town.hanging = {1}
    async with town.daemon():
        await town.happens(1)
        await wait_until(lambda: town.begun)
    town.hanging = set()
    async with town.daemon():
        await wait_until(lambda: sorted(town.told) == [1])
        await until_async(lambda: _is(town, 0))
    assert len({key for _, key in town.begun}) == 1
    async with town.daemon():
        await town.happens(2)
        await wait_until(lambda: sorted(town.told) == [1, 2])


async def test_detections_stored_without_a_daemon_are_notified_once(town):
    async with town.daemon():
        pass
    await town.happens(1, 2)
    async with town.daemon():
        await wait_until(lambda: sorted(town.told) == [1, 2])
        await until_async(lambda: _is(town, 0))
    async with town.daemon():
        await town.happens(3)
        await wait_until(lambda: sorted(town.told) == [1, 2, 3])


async def test_one_over_which_daemons_die_is_given_up_and_counted(town):
    town.hanging = {1}
    async with town.daemon():
        await town.happens(1)
        await wait_until(lambda: len(town.begun) == 1)
    for life in range(2, MAX_TRIES + 1):
        async with town.daemon():
            await wait_until(lambda many=life: len(town.begun) == many)
    async with town.daemon():
        await wait_until(lambda: sorted(town.told) == [-1])
        await until_async(lambda: _is(town, 0))


async def test_after_a_long_time_there_is_no_flood(town):
    async with town.daemon():
        pass
    await town.happens(*range(100, 130), ago=2 * MAX_AGE_NS)
    await town.happens(*range(200, 200 + MAX_BACKLOG_PER_CHANNEL + 4))
    async with town.daemon():
        await wait_until(lambda: len(town.told) == MAX_BACKLOG_PER_CHANNEL + 1)
        await until_async(lambda: _is(town, 0))
    assert sorted(town.told) == [-34, *range(204, 204 + MAX_BACKLOG_PER_CHANNEL)]


async def test_detections_before_a_channel_was_set_are_not_notified(town):
    town.settings = OFF
    async with town.daemon():
        await town.happens(1)
        await wait_until(lambda: town.notifier._skipped_up_to == 1)
        town.settings = HOOK
        await town.happens(2)
        await wait_until(lambda: sorted(town.told) == [2])
        town.settings = OFF
        await town.happens(3)
        await until_async(lambda: _forgotten(town))
        await wait_until(lambda: town.notifier._skipped_up_to == 3)
        town.settings = HOOK
        await town.happens(4)
        await wait_until(lambda: sorted(town.told) == [2, 4])


async def _forgotten(town: Town) -> bool:
    return await town.store.notification_outbox.read_cursor() is None


async def test_other_events_are_not_notified(town):
    async with town.daemon():
        for event in await town.store.events.add([Event(at=1, kind="pane_gone", pane=town.pane)]):
            town.events.publish(event)
        await town.happens(1)
        await wait_until(lambda: sorted(town.told) == [1])
