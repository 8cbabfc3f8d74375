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
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Event
from termvisor.model.ids import EventId
from termvisor.model.settings.events import EventSettings
from termvisor.store import Store

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_MAX_CONCURRENT = 16
"""Notices that may be on their way; what comes meanwhile waits in the store."""
_DETECTIONS_PER_PAGE = 200
MAX_TRIES = 3
"""How often one is begun; each time but the last the daemon died over it."""
MAX_AGE_NS = 3600 * NS
"""What happened longer ago is no news."""
MAX_BACKLOG_PER_CHANNEL = 5
"""Of those that an earlier daemon owed, the newest so many are told by each way."""
log = get_logger("events")

SendNotification = Callable[[Notify, str], Awaitable[object]]


def build_actor() -> Actor:
    return Actor(kind="workflow", name="events", uid=os.getuid(), pid=os.getpid())


class EventNotifierDependencies(Struct, frozen=True):
    """What it stands on."""

    events: Bus[Event]
    store: Store
    settings: Callable[[], EventSettings]
    send: SendNotification
    clock: Clock


class EventNotifier:
    def __init__(self, dependencies: EventNotifierDependencies):
        self._dependencies, self._outbox, self._clock = (
            dependencies,
            dependencies.store.notification_outbox,
            dependencies.clock,
        )
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)
        self._sending: set[int] = set()
        self._skipped_up_to = EventId(0)
        """The newest event while nobody wanted to be told."""

    async def run(self) -> None:
        """Until it is cancelled. A way that hangs keeps nobody else waiting."""
        with self._dependencies.events.subscribe() as news:
            self._skipped_up_to = EventId(await self._dependencies.store.events.find_newest_id())
            async with asyncio.TaskGroup() as group:
                await self._send_pending(group, MAX_BACKLOG_PER_CHANNEL)
                while True:
                    heard = [await news.get(), *news.drain()]
                    if any(map(_is_detection_event, heard)):
                        await self._send_pending(group)
                    if not self._dependencies.settings().events_ways:
                        self._skipped_up_to = EventId(max(event.id for event in heard))

    async def _send_pending(self, group: asyncio.TaskGroup, max_per_channel: int | None = None) -> None:
        try:
            await self._queue_new_detections()
            for owed in await self._select_pending(max_per_channel):
                await self._slots.acquire()
                self._sending.add(owed.id)
                group.create_task(self._deliver(owed)).add_done_callback(lambda _: self._slots.release())
        except StorageError as error:
            log.warning("nobody is told of events until they can be stored: %s", error.message)

    async def _queue_new_detections(self) -> None:
        """What was detected since becomes notices that are owed."""
        settings, cursor = self._dependencies.settings(), await self._outbox.read_cursor()
        if not settings.events_ways:
            if cursor is not None:
                await self._outbox.clear()
            return
        if cursor is None:
            cursor = self._skipped_up_to
            await self._outbox.add_pending(cursor)
        while page := await self._dependencies.store.detections.list(
            DetectionFilter(after=cursor, limit=_DETECTIONS_PER_PAGE)
        ):
            wanted = [owed for one in page for owed in build_pending(one, settings)]
            cursor = page[-1].event
            await self._outbox.add_pending(cursor, wanted)

    async def _select_pending(self, max_per_channel: int | None) -> list[PendingNotification]:
        """Those to tell now. Of the others one notice says how many they were, and they are owed no longer."""
        found = [one for one in await self._outbox.list_pending() if one.id not in self._sending]
        told, left_out = split_pending(found, self._clock.now(), max_per_channel)
        if not left_out:
            return told
        await self._outbox.finish(left_out, build_summaries(left_out, self._clock.now()))
        return [one for one in await self._outbox.list_pending() if one.id not in self._sending]

    async def _deliver(self, pending: PendingNotification) -> None:
        try:
            await self._outbox.record_attempt(pending)
            try:
                await self._dependencies.send(pending.action, pending.key)
            except StorageError:
                raise
            except VisorError as error:
                log.warning("nobody was told of an event by %s: %s", pending.action.way, error.message)
            await self._outbox.finish([pending])
        except StorageError as error:
            log.warning("that an event was told is not on record: %s", error.message)
        finally:
            self._sending.discard(pending.id)


def build_pending(detection: Detection, settings: EventSettings) -> list[PendingNotification]:
    return [
        PendingNotification(
            key=f"event.{detection.event}.{notice.way}.{os.urandom(4).hex()}", at=detection.at, action=notice
        )
        for notice in build_notices(detection, settings)
    ]


def build_notices(detection: Detection, settings: EventSettings) -> list[Notify]:
    """What is said of a detection: nothing of what is muted, not asked for, or not severe enough."""
    is_wanted = any(fnmatchcase(detection.type, glob) for glob in settings.events_types or ("*",))
    if (
        detection.handling is not None
        or not is_wanted
        or _SEVERITIES.index(detection.severity) < _SEVERITIES.index(settings.events_severity)
    ):
        return []
    title = f"{detection.type}: {detection.agent or 'a program'} in pane {detection.pane} (event:{detection.event})"
    told = {
        "severity": detection.severity,
        "rule": detection.rule,
        **detection.captures,
        **({} if detection.can_start_workflow else {"proven": "no"}),
    }
    text = "\n".join(f"{name}: {value}" for name, value in told.items())
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(settings.events_ways)]


def split_pending(
    pending: Sequence[PendingNotification], now: int, max_per_channel: int | None = None
) -> tuple[list[PendingNotification], list[PendingNotification]]:
    """Those to tell, and those to leave out: too old, begun too often, or more than ``most`` by one way. Pure."""
    fresh = [one for one in pending if one.tries < MAX_TRIES and one.at >= now - MAX_AGE_NS]
    newer: Counter[str] = Counter()
    kept: set[int] = set()
    for one in reversed(fresh):
        newer[one.action.way] += 1
        if max_per_channel is None or newer[one.action.way] <= max_per_channel:
            kept.add(one.id)
    return [one for one in pending if one.id in kept], [one for one in pending if one.id not in kept]


def build_summaries(skipped: Sequence[PendingNotification], now: int) -> list[PendingNotification]:
    """One for each way. A sum that is left out itself counts for what it stands for, and is not begun for ever."""
    found: dict[str, list[PendingNotification]] = {}
    for one in skipped:
        if not (one.summarized_count and one.tries >= MAX_TRIES):
            found.setdefault(one.action.way, []).append(one)
    return [_build_summary(several, now) for several in found.values()]


def _build_summary(skipped: Sequence[PendingNotification], now: int) -> PendingNotification:
    count, way = sum(one.summarized_count or 1 for one in skipped), skipped[0].action.way
    title = f"{count} event{'s were' if count > 1 else ' was'} not told in time"
    notice = Notify(title=title, text="`visor events` shows what happened.", way=way)
    return PendingNotification(key=f"events.{way}.{count}.{os.urandom(4).hex()}", at=now, action=notice)


def _is_detection_event(event: Event) -> bool:
    return "." in event.kind or event.kind == "user_var"
