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


def test_a_notification_names_the_event_and_its_captures():
    (notice,) = build_notices(ONE, HOOK)
    assert notice.title == "usage.reached: codex in pane 7 (event:5)"
    assert notice.text == "severity: error\nrule: codex.usage.reached\nresets_at: 3pm"
    assert notice.way == "webhook"
    assert build_actor().kind == "workflow"


@pytest.mark.parametrize(
    ("changes", "settings", "is_notified"),
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
def test_only_selected_detections_are_notified(changes, settings, is_notified):
    assert bool(build_notices(replace(ONE, **changes), replace(HOOK, **settings))) == is_notified


def build_pending_notification(number: int, at: int = 0, tries: int = 0, way: str = "webhook") -> PendingNotification:
    return PendingNotification(
        id=number, key=f"event.{number}.{way}.x", at=at, action=Notify(title="t", text="", way=way), tries=tries
    )


def test_old_excess_and_often_tried_notifications_are_dropped():
    old, often = build_pending_notification(1, at=0), build_pending_notification(2, at=MAX_AGE_NS, tries=MAX_TRIES)
    many = [build_pending_notification(number, at=MAX_AGE_NS + 1) for number in range(3, 10)]
    other = build_pending_notification(10, at=MAX_AGE_NS + 1, way="command")
    to_send, left = split_pending([old, often, *many, other], MAX_AGE_NS + 1, 5)
    assert to_send == [*many[2:], other]
    assert left == [old, often, *many[:2]]
    assert split_pending(many, MAX_AGE_NS + 1) == (many, [])


def test_dropped_notifications_become_one_summary_per_channel_with_limited_tries():
    sums = build_summaries(
        [build_pending_notification(1), build_pending_notification(2), build_pending_notification(3, way="command")], 9
    )
    assert [(one.action.way, one.action.title, one.at) for one in sums] == [
        ("webhook", "2 events were not notified in time", 9),
        ("command", "1 event was not notified in time", 9),
    ]
    (again,) = build_summaries([sums[0], build_pending_notification(4)], 10)
    assert again.action.title == "3 events were not notified in time"
    assert build_summaries([replace(again, tries=MAX_TRIES)], 11) == []


def test_notification_keys_are_unique():
    (mine,), (yours,) = build_pending(ONE, HOOK), build_pending(ONE, HOOK)
    assert mine.key != yours.key


class NotifierScene:
    """A store with a pane and a restartable notifier. ``send`` hangs for the numbers in ``hanging``."""

    def __init__(self, store, pane: PaneId):
        self.store, self.pane, self.clock, self.settings = store, pane, FakeClock(), HOOK
        self.events, self.hanging = Bus(), set()
        self.started: list[tuple[int, str]] = []
        self.sent: list[int] = []

    async def store_detections(self, *numbers: int, ago: int = 0) -> None:
        """Store a detection for each number, captured as ``n``, and publish its event."""
        for number in numbers:
            seen = replace(ONE, pane=self.pane, at=self.clock.now() - ago, captures={"n": str(number)})
            for event in await self.store.detections.add([seen]):
                self.events.publish(event)

    async def send(self, notice: Notify, key: str) -> None:
        number = int(notice.text.rpartition("n: ")[2]) if "n: " in notice.text else -int(notice.title.split()[0])
        self.started.append((number, key))
        if number in self.hanging:
            await asyncio.Event().wait()
        if number == 13:
            raise Unavailable("no")
        self.sent.append(number)

    @asynccontextmanager
    async def run_notifier(self) -> AsyncIterator[None]:
        self.notifier = EventNotifier(
            events=self.events,
            store=self.store,
            get_settings=lambda: self.settings,
            send=self.send,
            clock=self.clock,
        )
        task = asyncio.ensure_future(self.notifier.run())
        await wait_until(lambda: self.events._subscriptions)
        await wait_until_async(self._is_settled)
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _is_settled(self) -> bool:
        return not self.settings.events_ways or await self.store.notification_outbox.read_cursor() is not None

    async def count_pending(self) -> int:
        return len(await self.store.notification_outbox.list_pending())


async def wait_until_async(condition) -> None:
    for _ in range(500):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


@pytest.fixture
async def scene(store, new_pane):
    return NotifierScene(store, await new_pane())


async def test_a_hanging_or_failing_send_delays_no_other(scene):
    scene.hanging = {1, 2, 3}
    async with scene.run_notifier():
        await scene.store_detections(1, 2, 3, 13, 4, 5)
        await wait_until(lambda: sorted(scene.sent) == [4, 5])
        await wait_until_async(lambda: _is(scene, 3))


async def _is(scene: NotifierScene, count: int) -> bool:
    return await scene.count_pending() == count


async def test_pending_notifications_survive_a_crash_under_the_same_key(scene):
    scene.hanging = {1}
    async with scene.run_notifier():
        await scene.store_detections(1)
        await wait_until(lambda: scene.started)
    scene.hanging = set()
    async with scene.run_notifier():
        await wait_until(lambda: sorted(scene.sent) == [1])
        await wait_until_async(lambda: _is(scene, 0))
    assert len({key for _, key in scene.started}) == 1
    async with scene.run_notifier():
        await scene.store_detections(2)
        await wait_until(lambda: sorted(scene.sent) == [1, 2])


async def test_detections_stored_without_a_daemon_are_notified_once(scene):
    async with scene.run_notifier():
        pass
    await scene.store_detections(1, 2)
    async with scene.run_notifier():
        await wait_until(lambda: sorted(scene.sent) == [1, 2])
        await wait_until_async(lambda: _is(scene, 0))
    async with scene.run_notifier():
        await scene.store_detections(3)
        await wait_until(lambda: sorted(scene.sent) == [1, 2, 3])


async def test_a_notification_that_crashes_daemons_is_dropped_and_counted(scene):
    scene.hanging = {1}
    async with scene.run_notifier():
        await scene.store_detections(1)
        await wait_until(lambda: len(scene.started) == 1)
    for life in range(2, MAX_TRIES + 1):
        async with scene.run_notifier():
            await wait_until(lambda many=life: len(scene.started) == many)
    async with scene.run_notifier():
        await wait_until(lambda: sorted(scene.sent) == [-1])
        await wait_until_async(lambda: _is(scene, 0))


async def test_a_long_backlog_is_limited_and_summarized(scene):
    async with scene.run_notifier():
        pass
    await scene.store_detections(*range(100, 130), ago=2 * MAX_AGE_NS)
    await scene.store_detections(*range(200, 200 + MAX_BACKLOG_PER_CHANNEL + 4))
    async with scene.run_notifier():
        await wait_until(lambda: len(scene.sent) == MAX_BACKLOG_PER_CHANNEL + 1)
        await wait_until_async(lambda: _is(scene, 0))
    assert sorted(scene.sent) == [-34, *range(204, 204 + MAX_BACKLOG_PER_CHANNEL)]


async def test_detections_before_a_channel_was_set_are_not_notified(scene):
    scene.settings = OFF
    async with scene.run_notifier():
        await scene.store_detections(1)
        await wait_until(lambda: scene.notifier._skipped_up_to == 1)
        scene.settings = HOOK
        await scene.store_detections(2)
        await wait_until(lambda: sorted(scene.sent) == [2])
        scene.settings = OFF
        await scene.store_detections(3)
        await wait_until_async(lambda: _forgotten(scene))
        await wait_until(lambda: scene.notifier._skipped_up_to == 3)
        scene.settings = HOOK
        await scene.store_detections(4)
        await wait_until(lambda: sorted(scene.sent) == [2, 4])


async def _forgotten(scene: NotifierScene) -> bool:
    return await scene.store.notification_outbox.read_cursor() is None


async def test_other_events_are_not_notified(scene):
    async with scene.run_notifier():
        for event in await scene.store.events.add([Event(at=1, kind="pane_gone", pane=scene.pane)]):
            scene.events.publish(event)
        await scene.store_detections(1)
        await wait_until(lambda: sorted(scene.sent) == [1])
