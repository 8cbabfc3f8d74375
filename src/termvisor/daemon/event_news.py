"""Tells people and programs of detections, by the ways that are set up for them: webhooks out.

What is told was stored before, and goes through the gate like everything else: it is on record, redacted, signed, tried
a few times, and held back where it would be too much. Who must miss nothing reads the events from their cursor.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import get_args

from termvisor.bus import Bus
from termvisor.errors import VisorError
from termvisor.log import logger
from termvisor.model.action import Actor, Notify
from termvisor.model.detection import Detection
from termvisor.model.event import Event
from termvisor.model.event_settings import EventSettings
from termvisor.model.ids import EventId
from termvisor.model.rule import Severity

_RANKS: tuple[Severity, ...] = get_args(Severity)
_TOGETHER = 16
"""Notices that may be on their way; what comes meanwhile waits in the bounded queue of the news."""
log = logger("events")

Find = Callable[[EventId], Awaitable[Detection | None]]
Tell = Callable[[Notify], Awaitable[object]]


def myself() -> Actor:
    return Actor(kind="workflow", name="events", uid=os.getuid(), pid=os.getpid())


async def tell_of_events(events: Bus[Event], find: Find, settings: Callable[[], EventSettings], tell: Tell) -> None:
    """Runs until it is cancelled. A way that hangs keeps nobody else waiting."""
    room = asyncio.Semaphore(_TOGETHER)
    with events.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            while True:
                event = await news.get()
                if not settings().events_ways or ("." not in event.kind and event.kind != "user_var"):
                    continue
                for notice in await _notices(event, find, settings()):
                    await room.acquire()
                    group.create_task(_told(tell, notice)).add_done_callback(lambda _: room.release())


async def _notices(event: Event, find: Find, settings: EventSettings) -> list[Notify]:
    try:
        detection = await find(event.id)
    except VisorError as error:
        log.warning("nobody was told of event %d: %s", event.id, error.message)
        return []
    return [] if detection is None else notices(detection, settings)


def notices(one: Detection, settings: EventSettings) -> list[Notify]:
    """What is said of a detection: nothing of what is muted, not asked for, or not severe enough."""
    is_wanted = any(fnmatchcase(one.type, glob) for glob in settings.events_types or ("*",))
    if one.handling is not None or not is_wanted or _RANKS.index(one.severity) < _RANKS.index(settings.events_severity):
        return []
    title = f"{one.type}: {one.agent or 'a program'} in pane {one.pane} (event:{one.event})"
    told = {"severity": one.severity, "rule": one.rule, **one.captures, **({} if one.may_start else {"proven": "no"})}
    text = "\n".join(f"{name}: {value}" for name, value in told.items())
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(settings.events_ways)]


async def _told(tell: Tell, notice: Notify) -> None:
    try:
        await tell(notice)
    except VisorError as error:
        log.warning("nobody was told of an event by %s: %s", notice.way, error.message)
