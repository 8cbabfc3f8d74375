"""Tells people, with manners: not what they have before them, not twice, not too often.

notify ─► words made harmless ─► do they see it anyway? ─► too much? ─► one of the ways
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable, Mapping

from termvisor.actions.notifications.channel import NotificationChannel
from termvisor.actions.notifications.command import CommandChannel
from termvisor.actions.notifications.desktop import DesktopChannel
from termvisor.actions.notifications.recipients import NotificationRecipients
from termvisor.actions.notifications.sanitize import sanitize_line, sanitize_text
from termvisor.actions.notifications.terminal import TerminalChannel
from termvisor.actions.notifications.throttle import NotificationThrottle
from termvisor.actions.notifications.webhook import WebhookChannel
from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import MuxError
from termvisor.model.action.action import NotificationWay, Notify
from termvisor.model.action.notification import NotificationSettings, UserNotification, find_missing_settings
from termvisor.model.action.outcome import Outcome
from termvisor.redaction import redact


def build_channels(recipients: NotificationRecipients, clock: Clock) -> dict[NotificationWay, NotificationChannel]:
    return {
        "terminal": TerminalChannel(recipients, clock),
        "desktop": DesktopChannel(),
        "webhook": WebhookChannel(clock),
        "command": CommandChannel(),
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
        if lacks := find_missing_settings(settings).get(action.way):
            return Outcome(status="failed", why="not_set_up", text=f"{lacks} is not set", pane=action.pane)
        if await self._is_pane_watched(action, settings):
            return _build_suppressed_outcome(action, "looking", "somebody has that pane before them")
        if why := self._throttle.check_and_reserve(action, settings):
            return _build_suppressed_outcome(action, why, _SUPPRESSION_TEXTS[why])
        return await self._send(action, correlation, settings)

    async def _send(self, action: Notify, correlation: str, settings: NotificationSettings) -> Outcome:
        count = self._throttle.take_suppressed_count(action.way)
        is_told = False
        try:
            notice = await self._build_notice(action, correlation, count)
            sent = await self._channels[action.way].send(notice, settings)
            is_told = sent.status == "done"
        finally:
            self._throttle.finish(action, is_sent=is_told, count=count)
        return Outcome(status=sent.status, why=sent.why, text=redact(sent.text), pane=action.pane)

    async def _build_notice(self, action: Notify, correlation: str, count: int) -> UserNotification:
        return UserNotification(
            id=build_notice_id(action, correlation),
            correlation=correlation,
            at=format_timestamp(self._clock.now()),
            title=sanitize_line(action.title),
            text=sanitize_text(action.text),
            pane=action.pane,
            place="" if action.pane is None else sanitize_line(await self._recipients.describe_pane(action.pane)),
            held_back=count,
        )

    async def _is_pane_watched(self, action: Notify, settings: NotificationSettings) -> bool:
        """Who cannot be asked what they look at is told."""
        if action.pane is None or not settings.notify_looking:
            return False
        try:
            viewers = await self._recipients.list_viewers(action.pane)
        except MuxError:
            return False
        now = self._clock.now()
        return any((now - viewer.typed_at) / NS < settings.notify_looking for viewer in viewers)


def build_notice_id(action: Notify, correlation: str) -> str:
    """The same for the same words of the same story: who gets it twice, also from two daemons, knows it again."""
    said = "\0".join((correlation, action.way, action.title, action.text))
    return blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()


_SUPPRESSION_TEXTS = {
    "repeated": "the same was told a moment ago (notify_window)",
    "too_many": "there were too many in a minute (notify_rate)",
    "busy": "too many others are still on their way",
}


def _build_suppressed_outcome(action: Notify, why: str, text: str) -> Outcome:
    return Outcome(status="suppressed", why=why, text=text, pane=action.pane)
