"""Detections are told by the ways that are set up, at least once; who hangs or dies keeps nobody else waiting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.daemon.acting.event_notifications import (
    BACKLOG,
    NEWS_FOR,
    TRIES,
    EventNews,
    Ground,
    myself,
    notices,
    owed_for,
    sift,
    summed_up,
)
from termvisor.errors import Unavailable
from termvisor.model.action.action import Notify
from termvisor.model.action.notification import Owed
from termvisor.model.detection.detection import Detection, Handling
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId
from termvisor.model.settings.events import EventSettings
from termvisor.testing.world import StillClock
from tests.unit.waiting import until

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
OFF = EventSettings()


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


def owed(number: int, at: int = 0, tries: int = 0, way: str = "webhook") -> Owed:
    return Owed(
        id=number, key=f"event.{number}.{way}.x", at=at, action=Notify(title="t", text="", way=way), tries=tries
    )


def test_what_is_old_or_was_begun_too_often_or_is_too_much_is_left_out():
    old, often = owed(1, at=0), owed(2, at=NEWS_FOR, tries=TRIES)
    many = [owed(number, at=NEWS_FOR + 1) for number in range(3, 10)]
    other = owed(10, at=NEWS_FOR + 1, way="command")
    told, left = sift([old, often, *many, other], NEWS_FOR + 1, 5)
    assert told == [*many[2:], other]
    assert left == [old, often, *many[:2]]
    assert sift(many, NEWS_FOR + 1) == (many, [])


def test_what_is_left_out_is_one_notice_a_way_which_is_not_begun_for_ever():
    sums = summed_up([owed(1), owed(2), owed(3, way="command")], 9)
    assert [(one.action.way, one.action.title, one.at) for one in sums] == [
        ("webhook", "2 events were not told in time", 9),
        ("command", "1 event was not told in time", 9),
    ]
    (again,) = summed_up([sums[0], owed(4)], 10)
    assert again.action.title == "3 events were not told in time"
    assert summed_up([replace(again, tries=TRIES)], 11) == []


def test_two_machines_never_give_two_notices_one_key():
    (mine,), (yours,) = owed_for(ONE, HOOK), owed_for(ONE, HOOK)
    assert mine.key != yours.key


class Town:
    """A store with a pane, and daemons that come and go. ``tell`` hangs for the numbers in ``hanging``."""

    def __init__(self, store, pane: PaneId):
        self.store, self.pane, self.clock, self.settings = store, pane, StillClock(), HOOK
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
        self.news = EventNews(Ground(self.events, self.store, lambda: self.settings, self.tell, self.clock))
        task = asyncio.ensure_future(self.news.run())
        await until(lambda: self.events._listeners)
        await until_async(self._is_settled)
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _is_settled(self) -> bool:
        return not self.settings.events_ways or await self.store.notices.cursor() is not None

    async def owed(self) -> int:
        return len(await self.store.notices.owed())


async def until_async(look) -> None:
    for _ in range(500):
        if await look():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


@pytest.fixture
async def town(store, new_pane):
    return Town(store, await new_pane())


async def test_what_hangs_or_fails_keeps_nobody_else_waiting(town):
    town.hanging = {1, 2, 3}
    async with town.daemon():
        await town.happens(1, 2, 3, 13, 4, 5)
        await until(lambda: sorted(town.told) == [4, 5])
        await until_async(lambda: _is(town, 3))


async def _is(town: Town, count: int) -> bool:
    return await town.owed() == count


async def test_what_was_owed_at_a_death_is_told_by_the_next_daemon_under_the_same_key(town):
    town.hanging = {1}
    async with town.daemon():
        await town.happens(1)
        await until(lambda: town.begun)
    town.hanging = set()
    async with town.daemon():
        await until(lambda: sorted(town.told) == [1])
        await until_async(lambda: _is(town, 0))
    assert len({key for _, key in town.begun}) == 1
    async with town.daemon():
        await town.happens(2)
        await until(lambda: sorted(town.told) == [1, 2])


async def test_what_was_stored_while_nobody_lived_is_told_once(town):
    async with town.daemon():
        pass
    await town.happens(1, 2)
    async with town.daemon():
        await until(lambda: sorted(town.told) == [1, 2])
        await until_async(lambda: _is(town, 0))
    async with town.daemon():
        await town.happens(3)
        await until(lambda: sorted(town.told) == [1, 2, 3])


async def test_one_over_which_daemons_die_is_given_up_and_counted(town):
    town.hanging = {1}
    async with town.daemon():
        await town.happens(1)
        await until(lambda: len(town.begun) == 1)
    for life in range(2, TRIES + 1):
        async with town.daemon():
            await until(lambda many=life: len(town.begun) == many)
    async with town.daemon():
        await until(lambda: sorted(town.told) == [-1])
        await until_async(lambda: _is(town, 0))


async def test_after_a_long_time_there_is_no_flood(town):
    async with town.daemon():
        pass
    await town.happens(*range(100, 130), ago=2 * NEWS_FOR)
    await town.happens(*range(200, 200 + BACKLOG + 4))
    async with town.daemon():
        await until(lambda: len(town.told) == BACKLOG + 1)
        await until_async(lambda: _is(town, 0))
    assert sorted(town.told) == [-34, *range(204, 204 + BACKLOG)]


async def test_of_the_past_nobody_is_told_who_only_now_wants_to_be(town):
    town.settings = OFF
    async with town.daemon():
        await town.happens(1)
        await until(lambda: town.news._passed == 1)
        town.settings = HOOK
        await town.happens(2)
        await until(lambda: sorted(town.told) == [2])
        town.settings = OFF
        await town.happens(3)
        await until_async(lambda: _forgotten(town))
        await until(lambda: town.news._passed == 3)
        town.settings = HOOK
        await town.happens(4)
        await until(lambda: sorted(town.told) == [2, 4])


async def _forgotten(town: Town) -> bool:
    return await town.store.notices.cursor() is None


async def test_other_events_are_not_told(town):
    async with town.daemon():
        for event in await town.store.events.add([Event(at=1, kind="pane_gone", pane=town.pane)]):
            town.events.publish(event)
        await town.happens(1)
        await until(lambda: sorted(town.told) == [1])
