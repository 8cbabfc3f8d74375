"""Send notifications, except repeated ones, too many, or those about a pane that a user is looking at.

Notify action → check settings → pane watched? → throttled? → sanitize → channel
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, 4 MB of memory
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
from termvisor.model.action.notification import UserNotification
from termvisor.model.action.outcome import Outcome
from termvisor.model.settings.notifications import NotificationSettings, find_missing_settings
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
            notice = await self._build_notice(action, correlation, count)
            result = await self._channels[action.way].send(notice, settings)
            is_sent = result.status == "done"
        finally:
            # Also when cancelled: the throttle must free its slot and keep the suppressed count.
            self._throttle.finish(action, is_sent=is_sent, count=count)
        return Outcome(status=result.status, why=result.why, text=redact(result.text), pane=action.pane)

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
        """Return True if a user who shows the pane typed a moment ago; False if tmux does not answer."""
        if action.pane is None or not settings.notify_looking:
            return False
        try:
            viewers = await self._recipients.list_viewers(action.pane)
        except MuxError:
            return False
        now = self._clock.now()
        return any((now - viewer.typed_at) / NS < settings.notify_looking for viewer in viewers)


def build_notice_id(action: Notify, correlation: str) -> str:
    """Return an id that is the same for the same text of the same action, so that receivers can deduplicate it."""
    content = "\0".join((correlation, action.way, action.title, action.text))
    return blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()


_SUPPRESSION_TEXTS = {
    "repeated": "the same notification was sent a moment ago (notify_window)",
    "too_many": "too many notifications in a minute (notify_rate)",
    "busy": "too many notifications are still being sent",
}


def _build_suppressed_outcome(action: Notify, why: str, text: str) -> Outcome:
    return Outcome(status="suppressed", why=why, text=text, pane=action.pane)
