"""Tells people, with manners: not what they have before them, not twice, not too often.

notify ─► words made harmless ─► do they see it anyway? ─► too much? ─► one of the ways
"""

from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable, Mapping

from termvisor.actions.notifications.channel import Means
from termvisor.actions.notifications.command import Command
from termvisor.actions.notifications.desktop import Desktop
from termvisor.actions.notifications.recipients import Audience
from termvisor.actions.notifications.sanitize import lines, one_line
from termvisor.actions.notifications.terminal import Terminal
from termvisor.actions.notifications.throttle import Manners
from termvisor.actions.notifications.webhook import Webhook
from termvisor.clock import NS, Clock, iso
from termvisor.errors import MuxError
from termvisor.model.action.action import Notify, Way
from termvisor.model.action.notification import Notice, NotifySettings, missing
from termvisor.model.action.outcome import Outcome
from termvisor.redaction import redact


def ways(audience: Audience, clock: Clock) -> dict[Way, Means]:
    return {
        "terminal": Terminal(audience, clock),
        "desktop": Desktop(),
        "webhook": Webhook(clock),
        "command": Command(),
    }


class Notifier:
    def __init__(
        self, audience: Audience, means: Mapping[Way, Means], settings: Callable[[], NotifySettings], clock: Clock
    ):
        self._audience, self._means, self._settings, self._clock = audience, means, settings, clock
        self._manners = Manners(clock)

    async def tell(self, action: Notify, correlation: str) -> Outcome:
        settings = self._settings()
        if lacks := missing(settings).get(action.way):
            return Outcome(status="failed", why="not_set_up", text=f"{lacks} is not set", pane=action.pane)
        if await self._is_seen(action, settings):
            return _suppressed(action, "looking", "somebody has that pane before them")
        if why := self._manners.holds_back(action, settings):
            return _suppressed(action, why, _HELD_BACK[why])
        return await self._send(action, correlation, settings)

    async def _send(self, action: Notify, correlation: str, settings: NotifySettings) -> Outcome:
        count = self._manners.take_count(action.way)
        is_told = False
        try:
            notice = await self._notice(action, correlation, count)
            sent = await self._means[action.way].send(notice, settings)
            is_told = sent.status == "done"
        finally:
            self._manners.ended(action, is_told=is_told, count=count)
        return Outcome(status=sent.status, why=sent.why, text=redact(sent.text), pane=action.pane)

    async def _notice(self, action: Notify, correlation: str, count: int) -> Notice:
        return Notice(
            id=identity(action, correlation),
            correlation=correlation,
            at=iso(self._clock.now()),
            title=one_line(action.title),
            text=lines(action.text),
            pane=action.pane,
            place="" if action.pane is None else one_line(await self._audience.place(action.pane)),
            held_back=count,
        )

    async def _is_seen(self, action: Notify, settings: NotifySettings) -> bool:
        """Who cannot be asked what they look at is told."""
        if action.pane is None or not settings.notify_looking:
            return False
        try:
            viewers = await self._audience.viewers(action.pane)
        except MuxError:
            return False
        now = self._clock.now()
        return any((now - viewer.typed_at) / NS < settings.notify_looking for viewer in viewers)


def identity(action: Notify, correlation: str) -> str:
    """The same for the same words of the same story: who gets it twice, also from two daemons, knows it again."""
    said = "\0".join((correlation, action.way, action.title, action.text))
    return blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()


_HELD_BACK = {
    "repeated": "the same was told a moment ago (notify_window)",
    "too_many": "there were too many in a minute (notify_rate)",
    "busy": "too many others are still on their way",
}


def _suppressed(action: Notify, why: str, text: str) -> Outcome:
    return Outcome(status="suppressed", why=why, text=text, pane=action.pane)
