"""Notify users and webhooks about detections through an outbox on disk.

    stored detection → pending notifications in the outbox → sent through the gate → removed from the outbox

The gate audits, redacts, signs, retries and throttles them. Invariant: notifications that were pending when a daemon
died are sent by the next daemon with the same key. Those that are too old or were tried too often are replaced with
one summary per channel.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import get_args

from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.daemon.acting.approval_notifications import SendNotification
from termvisor.errors import StorageError, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.detection.detection import Detection, DetectionFilter, build_event_correlation
from termvisor.model.detection.rule import Severity
from termvisor.model.event import Event
from termvisor.model.ids import EventId
from termvisor.model.settings.detections import DetectionSettings
from termvisor.store import Store

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
# Maximum number of notifications sent at the same time; the others wait in the outbox.
_MAX_CONCURRENT = 16
_DETECTIONS_PER_PAGE = 200
# A notification is tried again only if the daemon died while sending it.
MAX_TRIES = 3
# Older detections are only counted in a summary.
MAX_AGE_NS = 3600 * NS
# Only the newest notifications left by an earlier daemon are sent individually.
MAX_BACKLOG_PER_CHANNEL = 5
log = get_logger("events")


def build_actor() -> Actor:
    return Actor(kind="workflow", name="events", uid=os.getuid(), pid=os.getpid())


class EventNotifier:
    def __init__(
        self,
        *,
        events: Bus[Event],
        store: Store,
        get_settings: Callable[[], DetectionSettings],
        send: SendNotification,
        clock: Clock,
    ):
        self._events, self._store, self._outbox = events, store, store.notification_outbox
        self._get_settings, self._send, self._clock = get_settings, send, clock
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)
        self._sending: set[int] = set()
        self._skipped_up_to = EventId(0)
        """The newest event stored while no channel was configured; no notifications are sent up to this one."""

    async def run(self) -> None:
        """Send notifications for new detections until cancelled; a channel that hangs does not delay the others."""
        # Subscribe before reading the newest id, so that no event is missed in between.
        with self._events.subscribe() as subscription:
            self._skipped_up_to = EventId(await self._store.events.find_newest_id())
            async with asyncio.TaskGroup() as group:
                await self._send_pending(group, MAX_BACKLOG_PER_CHANNEL)
                while True:
                    events = [await subscription.get(), *subscription.drain()]
                    if any(map(_is_detection_event, events)):
                        await self._send_pending(group)
                    if not self._get_settings().events_ways:
                        # Once the user configures a channel, earlier detections would be old news.
                        self._skipped_up_to = EventId(max(event.id for event in events))

    async def _send_pending(self, group: asyncio.TaskGroup, max_per_channel: int | None = None) -> None:
        try:
            await self._queue_new_detections()
            for pending in await self._select_pending(max_per_channel):
                # Waits for a free slot while the rest stay in the outbox, so a burst of detections uses no memory.
                await self._slots.acquire()
                self._sending.add(pending.id)
                group.create_task(self._deliver(pending)).add_done_callback(lambda _: self._slots.release())
        except StorageError as error:
            # Nothing is lost, because the cursor in the outbox has not moved.
            log.warning("event notifications wait until the store can be written: %s", error.message)

    async def _queue_new_detections(self) -> None:
        """Add notifications for all detections after the cursor to the outbox."""
        settings, cursor = self._get_settings(), await self._outbox.read_cursor()
        if not settings.events_ways:
            if cursor is not None:
                await self._outbox.clear()
            return
        if cursor is None:
            cursor = self._skipped_up_to
            await self._outbox.add_pending(cursor)
        while page := await self._store.detections.list(DetectionFilter(after=cursor, limit=_DETECTIONS_PER_PAGE)):
            pending = [notification for detection in page for notification in build_pending(detection, settings)]
            cursor = page[-1].event
            await self._outbox.add_pending(cursor, pending)

    async def _select_pending(self, max_per_channel: int | None) -> list[PendingNotification]:
        """Return the notifications to send now; replace the ones to skip with summaries."""
        selected, skipped = split_pending(await self._list_unsent(), self._clock.now(), max_per_channel)
        if not skipped:
            return selected
        await self._outbox.finish(skipped, build_summaries(skipped, self._clock.now()))
        return await self._list_unsent()

    async def _list_unsent(self) -> list[PendingNotification]:
        return [pending for pending in await self._outbox.list_pending() if pending.id not in self._sending]

    async def _deliver(self, pending: PendingNotification) -> None:
        try:
            await self._outbox.record_attempt(pending)
            try:
                await self._send(pending.action, pending.key)
            except StorageError:
                raise
            except VisorError as error:
                # The gate has already retried, so the notification is dropped instead of kept pending.
                log.warning("event notification by %s failed: %s", pending.action.way, error.message)
            await self._outbox.finish([pending])
        except StorageError as error:
            # It stays pending and may be sent again under the same key.
            log.warning("a sent event notification could not be removed from the outbox: %s", error.message)
        finally:
            self._sending.discard(pending.id)


def build_pending(detection: Detection, settings: DetectionSettings) -> list[PendingNotification]:
    return [
        PendingNotification(
            key=f"{build_event_correlation(detection.event)}.{notice.way}.{os.urandom(4).hex()}",
            at=detection.at,
            action=notice,
        )
        for notice in build_notices(detection, settings)
    ]


def build_notices(detection: Detection, settings: DetectionSettings) -> list[Notify]:
    """Return the notices for a detection; none if it is muted, filtered out, or not severe enough."""
    is_selected = any(fnmatchcase(detection.type, glob) for glob in settings.events_types or ("*",))
    if (
        detection.handling is not None
        or not is_selected
        or _SEVERITIES.index(detection.severity) < _SEVERITIES.index(settings.events_severity)
    ):
        return []
    title = f"{detection.type}: {detection.agent or 'a program'} in pane {detection.pane} (event:{detection.event})"
    fields = {
        "severity": detection.severity,
        "rule": detection.rule,
        **detection.captures,
        **({} if detection.can_start_workflow else {"proven": "no"}),
    }
    text = "\n".join(f"{name}: {value}" for name, value in fields.items())
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(settings.events_ways)]


def split_pending(
    pending: Sequence[PendingNotification], now: int, max_per_channel: int | None = None
) -> tuple[list[PendingNotification], list[PendingNotification]]:
    """Return the notifications to send and those to skip (too old, tried too often, or beyond the channel's limit)."""
    fresh = [item for item in pending if item.tries < MAX_TRIES and item.at >= now - MAX_AGE_NS]
    count_by_channel: Counter[str] = Counter()
    selected: set[int] = set()
    for item in reversed(fresh):
        count_by_channel[item.action.way] += 1
        if max_per_channel is None or count_by_channel[item.action.way] <= max_per_channel:
            selected.add(item.id)
    return [item for item in pending if item.id in selected], [item for item in pending if item.id not in selected]


def build_summaries(skipped: Sequence[PendingNotification], now: int) -> list[PendingNotification]:
    """Return one summary per channel.

    A skipped summary adds its own count to the new one, but is dropped after MAX_TRIES to avoid endless retries.
    """
    by_channel: dict[str, list[PendingNotification]] = {}
    for item in skipped:
        if not (item.summarized_count and item.tries >= MAX_TRIES):
            by_channel.setdefault(item.action.way, []).append(item)
    return [_build_summary(items, now) for items in by_channel.values()]


def _build_summary(skipped: Sequence[PendingNotification], now: int) -> PendingNotification:
    count, way = sum(item.summarized_count or 1 for item in skipped), skipped[0].action.way
    title = f"{count} event{'s were' if count > 1 else ' was'} not notified in time"
    notice = Notify(title=title, text="`visor events` lists them.", way=way)
    return PendingNotification(key=f"events.{way}.{count}.{os.urandom(4).hex()}", at=now, action=notice)


def _is_detection_event(event: Event) -> bool:
    return "." in event.kind or event.kind == "user_var"
