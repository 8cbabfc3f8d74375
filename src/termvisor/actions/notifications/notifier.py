"""Send notifications; suppress duplicates, excess ones, and those about a pane that a user is looking at.

    Notify action → check settings → pane watched? → throttled? → sanitize → channel

Invariant: every suppressed notification is counted, and the next one sent on the same channel reports the count.
"""

from _blake2 import blake2b  # importing hashlib would load OpenSSL, which costs 4 MB of memory
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from termvisor.actions.attempt import hash_action
from termvisor.actions.notifications.channels import (
    NotificationChannel,
    NotificationRecipients,
    sanitize_line,
    sanitize_text,
    send_to_command,
    send_to_desktop,
    send_to_terminals,
)
from termvisor.actions.notifications.webhook import WebhookChannel
from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import MuxError
from termvisor.model.action.action import NotificationWay, Notify
from termvisor.model.action.notification import UserNotification
from termvisor.model.action.outcome import Outcome
from termvisor.model.settings.notifications import NotificationSettings, find_missing_settings
from termvisor.policy.evaluator import count_action
from termvisor.policy.request import EMPTY_WINDOW, RateWindow
from termvisor.redaction import redact

_SUPPRESSION_TEXTS = {
    "repeated": "the same notification was sent a moment ago (notify_window)",
    "too_many": "too many notifications in a minute (notify_rate)",
    "busy": "too many notifications are still being sent",
}
# Maximum concurrent notifications per channel, so that a hung receiver does not pile up child processes.
_MAX_IN_FLIGHT = 8
# Maximum number of sent notifications remembered for deduplication; the oldest are dropped first.
_MAX_REMEMBERED = 1000


def build_channels(recipients: NotificationRecipients, clock: Clock) -> dict[NotificationWay, NotificationChannel]:
    return {
        "terminal": partial(send_to_terminals, recipients, clock),
        "desktop": send_to_desktop,
        "webhook": WebhookChannel(clock).send,
        "command": send_to_command,
    }


class Notifier:
    def __init__(
        self,
        recipients: NotificationRecipients,
        channels: Mapping[NotificationWay, NotificationChannel],
        get_settings: Callable[[], NotificationSettings],
        clock: Clock,
    ):
        self._recipients, self._channels, self._get_settings, self._clock = recipients, channels, get_settings, clock
        self._throttle = NotificationThrottle(clock)

    async def send_notification(self, action: Notify, correlation: str) -> Outcome:
        settings = self._get_settings()
        if missing := find_missing_settings(settings).get(action.way):
            return Outcome(status="failed", why="not_set_up", text=f"{missing} is not set", pane=action.pane)
        if await self._is_pane_watched(action, settings):
            return _build_suppressed_outcome(action, "looking", "a user is looking at that pane (notify_looking)")
        if why := self._throttle.check_and_reserve(action, settings):
            return _build_suppressed_outcome(action, why, _SUPPRESSION_TEXTS[why])
        return await self._send(action, correlation, settings)

    async def _send(self, action: Notify, correlation: str, settings: NotificationSettings) -> Outcome:
        count = self._throttle.take_suppressed_count(action.way)
        is_sent = False
        try:
            notice = UserNotification(
                id=build_notice_id(action, correlation),
                correlation=correlation,
                at=format_timestamp(self._clock.now()),
                title=sanitize_line(action.title),
                text=sanitize_text(action.text),
                pane=action.pane,
                place="" if action.pane is None else sanitize_line(await self._recipients.describe_pane(action.pane)),
                held_back=count,
            )
            result = await self._channels[action.way](notice, settings)
            is_sent = result.status == "done"
        finally:
            # Even when cancelled, the throttle must free its slot and keep the suppressed count.
            self._throttle.finish(action, is_sent=is_sent, count=count)
        return Outcome(status=result.status, why=result.why, text=redact(result.text), pane=action.pane)

    async def _is_pane_watched(self, action: Notify, settings: NotificationSettings) -> bool:
        """Return True if a client that shows the pane had a recent key press; False if tmux does not answer."""
        if action.pane is None or not settings.notify_looking:
            return False
        try:
            # Only a key press shows that a person is there: a client can stay attached for days.
            viewers = await self._recipients.list_viewers(action.pane)
        except MuxError:
            # An unnecessary notification is better than one that is lost because tmux hangs.
            return False
        now = self._clock.now()
        return any((now - viewer.typed_at) / NS < settings.notify_looking for viewer in viewers)


def build_notice_id(action: Notify, correlation: str) -> str:
    """Return an id derived from the action and its text, so that receivers can detect duplicates."""
    content = "\0".join((correlation, action.way, action.title, action.text))
    return blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _build_suppressed_outcome(action: Notify, why: str, text: str) -> Outcome:
    return Outcome(status="suppressed", why=why, text=text, pane=action.pane)


class NotificationThrottle:
    """Suppresses, per channel, notifications that repeat, exceed the rate, or meet a busy channel."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._sent_at: dict[str, int] = {}
        self._windows: dict[NotificationWay, RateWindow] = {}
        self._suppressed_counts: Counter[NotificationWay] = Counter()
        self._in_flight: Counter[NotificationWay] = Counter()

    def check_and_reserve(self, action: Notify, settings: NotificationSettings) -> str:
        """Return the code of the reason to suppress the notification; if empty, the caller must call ``finish``."""
        now, key = int(self._clock.monotonic() * NS), hash_action(action, None)
        self._drop_old(now - int(settings.notify_window * NS))
        if key in self._sent_at:
            return self._count_suppressed(action.way, "repeated")
        # Checked before counting, so that a hung channel does not use up the rate.
        if self._in_flight[action.way] >= _MAX_IN_FLIGHT:
            return self._count_suppressed(action.way, "busy")
        counted = count_action(self._windows.get(action.way, EMPTY_WINDOW), settings.notify_rate, now)
        if counted.retry_at is not None:
            return self._count_suppressed(action.way, "too_many")
        self._windows[action.way] = counted.window
        self._sent_at[key] = now
        self._in_flight[action.way] += 1
        return ""

    def take_suppressed_count(self, way: NotificationWay) -> int:
        """Return how many notifications were suppressed since the last one sent, and reset the count."""
        return self._suppressed_counts.pop(way, 0)

    def finish(self, action: Notify, *, is_sent: bool, count: int) -> None:
        """Free the slot. If the notification was not sent, allow it to be repeated and restore the count."""
        self._in_flight[action.way] -= 1
        if not is_sent:
            self._sent_at.pop(hash_action(action, None), None)
            self._suppressed_counts[action.way] += count

    def _count_suppressed(self, way: NotificationWay, why: str) -> str:
        self._suppressed_counts[way] += 1
        return why

    def _drop_old(self, before: int) -> None:
        while self._sent_at and (len(self._sent_at) > _MAX_REMEMBERED or next(iter(self._sent_at.values())) <= before):
            del self._sent_at[next(iter(self._sent_at))]
