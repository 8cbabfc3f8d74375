"""Tells people and programs of detections, by the ways that are set up for them: webhooks out.

    stored event ─► notices that are owed, on disk ─► told through the gate ─► owed no longer

What is told goes through the gate like everything else: it is on record, redacted, signed, tried a few times, and held
back where it would be too much. Invariant: what was owed when the daemon died is told by the next one, under the same
key; after so many deaths, or so late that it is no news, it is counted in one notice that sums up.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatchcase
from typing import get_args

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError, VisorError
from termvisor.log import logger
from termvisor.model.action.action import Actor, Notify
from termvisor.model.action.notification import Owed
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Event
from termvisor.model.ids import EventId
from termvisor.model.settings.events import EventSettings
from termvisor.store import Store

_RANKS: tuple[Severity, ...] = get_args(Severity)
_TOGETHER = 16
"""Notices that may be on their way; what comes meanwhile waits in the store."""
_PAGE = 200
TRIES = 3
"""How often one is begun; each time but the last the daemon died over it."""
NEWS_FOR = 3600 * NS
"""What happened longer ago is no news."""
BACKLOG = 5
"""Of those that an earlier daemon owed, the newest so many are told by each way."""
log = logger("events")

Tell = Callable[[Notify, str], Awaitable[object]]


def myself() -> Actor:
    return Actor(kind="workflow", name="events", uid=os.getuid(), pid=os.getpid())


class Ground(Struct, frozen=True):
    """What it stands on."""

    events: Bus[Event]
    store: Store
    settings: Callable[[], EventSettings]
    tell: Tell
    clock: Clock


class EventNews:
    def __init__(self, ground: Ground):
        self._ground, self._notices, self._clock = ground, ground.store.notices, ground.clock
        self._room = asyncio.Semaphore(_TOGETHER)
        self._under_way: set[int] = set()
        self._passed = EventId(0)
        """The newest event while nobody wanted to be told."""

    async def run(self) -> None:
        """Until it is cancelled. A way that hangs keeps nobody else waiting."""
        with self._ground.events.subscribe() as news:
            self._passed = EventId(await self._ground.store.events.newest())
            async with asyncio.TaskGroup() as group:
                await self._look(group, BACKLOG)
                while True:
                    heard = [await news.get(), *news.drain()]
                    if any(map(_may_be_detected, heard)):
                        await self._look(group)
                    if not self._ground.settings().events_ways:
                        self._passed = EventId(max(event.id for event in heard))

    async def _look(self, group: asyncio.TaskGroup, most: int | None = None) -> None:
        try:
            await self._collect()
            for owed in await self._sifted(most):
                await self._room.acquire()
                self._under_way.add(owed.id)
                group.create_task(self._deliver(owed)).add_done_callback(lambda _: self._room.release())
        except StorageError as error:
            log.warning("nobody is told of events until they can be stored: %s", error.message)

    async def _collect(self) -> None:
        """What was detected since becomes notices that are owed."""
        settings, cursor = self._ground.settings(), await self._notices.cursor()
        if not settings.events_ways:
            if cursor is not None:
                await self._notices.forget()
            return
        if cursor is None:
            cursor = self._passed
            await self._notices.owe(cursor)
        while page := await self._ground.store.detections.list(DetectionFilter(after=cursor, limit=_PAGE)):
            wanted = [owed for one in page for owed in owed_for(one, settings)]
            cursor = page[-1].event
            await self._notices.owe(cursor, wanted)

    async def _sifted(self, most: int | None) -> list[Owed]:
        """Those to tell now. Of the others one notice says how many they were, and they are owed no longer."""
        found = [one for one in await self._notices.owed() if one.id not in self._under_way]
        told, left_out = sift(found, self._clock.now(), most)
        if not left_out:
            return told
        await self._notices.end(left_out, summed_up(left_out, self._clock.now()))
        return [one for one in await self._notices.owed() if one.id not in self._under_way]

    async def _deliver(self, owed: Owed) -> None:
        try:
            await self._notices.tried(owed)
            try:
                await self._ground.tell(owed.action, owed.key)
            except StorageError:
                raise
            except VisorError as error:
                log.warning("nobody was told of an event by %s: %s", owed.action.way, error.message)
            await self._notices.end([owed])
        except StorageError as error:
            log.warning("that an event was told is not on record: %s", error.message)
        finally:
            self._under_way.discard(owed.id)


def owed_for(one: Detection, settings: EventSettings) -> list[Owed]:
    return [
        Owed(key=f"event.{one.event}.{notice.way}.{os.urandom(4).hex()}", at=one.at, action=notice)
        for notice in notices(one, settings)
    ]


def notices(one: Detection, settings: EventSettings) -> list[Notify]:
    """What is said of a detection: nothing of what is muted, not asked for, or not severe enough."""
    is_wanted = any(fnmatchcase(one.type, glob) for glob in settings.events_types or ("*",))
    if one.handling is not None or not is_wanted or _RANKS.index(one.severity) < _RANKS.index(settings.events_severity):
        return []
    title = f"{one.type}: {one.agent or 'a program'} in pane {one.pane} (event:{one.event})"
    told = {"severity": one.severity, "rule": one.rule, **one.captures, **({} if one.may_start else {"proven": "no"})}
    text = "\n".join(f"{name}: {value}" for name, value in told.items())
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(settings.events_ways)]


def sift(owed: Sequence[Owed], now: int, most: int | None = None) -> tuple[list[Owed], list[Owed]]:
    """Those to tell, and those to leave out: too old, begun too often, or more than ``most`` by one way. Pure."""
    fresh = [one for one in owed if one.tries < TRIES and one.at >= now - NEWS_FOR]
    newer: Counter[str] = Counter()
    kept: set[int] = set()
    for one in reversed(fresh):
        newer[one.action.way] += 1
        if most is None or newer[one.action.way] <= most:
            kept.add(one.id)
    return [one for one in owed if one.id in kept], [one for one in owed if one.id not in kept]


def summed_up(left_out: Sequence[Owed], now: int) -> list[Owed]:
    """One for each way. A sum that is left out itself counts for what it stands for, and is not begun for ever."""
    found: dict[str, list[Owed]] = {}
    for one in left_out:
        if not (one.stands_for and one.tries >= TRIES):
            found.setdefault(one.action.way, []).append(one)
    return [_sum(several, now) for several in found.values()]


def _sum(several: Sequence[Owed], now: int) -> Owed:
    count, way = sum(one.stands_for or 1 for one in several), several[0].action.way
    title = f"{count} event{'s were' if count > 1 else ' was'} not told in time"
    notice = Notify(title=title, text="`visor events` shows what happened.", way=way)
    return Owed(key=f"events.{way}.{count}.{os.urandom(4).hex()}", at=now, action=notice)


def _may_be_detected(event: Event) -> bool:
    return "." in event.kind or event.kind == "user_var"
