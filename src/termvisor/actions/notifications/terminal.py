"""The way `terminal`: a bell and a message (OSC 9) to the terminals at which somebody is attached.

Invariant: nothing but a terminal of this very user is ever written to, nobody waits for one that does not take it, and
a message that was begun is ended: a terminal that got half of one would swallow what its program draws next.
"""

import os
import stat

from termvisor.actions.notifications.channel import NotificationResult
from termvisor.actions.notifications.recipients import NotificationRecipients
from termvisor.actions.notifications.sanitize import sanitize_line
from termvisor.backends.pane_control import AttachedClient
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.model.action.notification import NotificationSettings, UserNotification

_MAX_MESSAGE_CHARS = 200
_BELL = b"\x07"
_MAX_WRITE_TRIES, _WRITE_RETRY_DELAY_S = 20, 0.05


class TerminalChannel:
    def __init__(self, recipients: NotificationRecipients, clock: Clock):
        self._recipients, self._clock = recipients, clock

    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
        try:
            clients = {client.tty: client for client in await self._recipients.list_clients()}
        except MuxError as error:
            return NotificationResult("failed", "no_answer", error.message)
        if not clients:
            return NotificationResult(
                "failed", "nobody_attached", "nobody is attached to a tmux server that is watched"
            )
        told = [await self._write_to_client(client, notice, settings) for client in clients.values()]
        if not any(told):
            return NotificationResult("failed", "not_writable", "no attached terminal is yours and takes a message now")
        return NotificationResult("done", text=f"{sum(told)} of {len(told)} attached terminals")

    async def _write_to_client(
        self, client: AttachedClient, notice: UserNotification, settings: NotificationSettings
    ) -> bool:
        descriptor = open_terminal(client.tty)
        if descriptor is None:
            return False
        try:
            return await self._write_all(descriptor, encode_notice(notice, settings, is_utf8=client.is_utf8))
        except OSError:
            return False
        finally:
            os.close(descriptor)

    async def _write_all(self, descriptor: int, data: bytes) -> bool:
        """A terminal that takes nothing at all is left alone; one that took a part gets the rest."""
        rest = data[_write_some(descriptor, data) :]
        tries = _MAX_WRITE_TRIES if len(rest) < len(data) else 0
        while rest and tries:
            await self._clock.sleep(_WRITE_RETRY_DELAY_S)
            rest = rest[_write_some(descriptor, rest) :]
            tries -= 1
        return not rest


def open_terminal(tty: str) -> int | None:
    """A descriptor that never blocks; None for what is no terminal, or is not this user's."""
    try:
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    found = os.fstat(descriptor)
    if stat.S_ISCHR(found.st_mode) and found.st_uid == os.getuid() and os.isatty(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def encode_notice(notice: UserNotification, settings: NotificationSettings, *, is_utf8: bool) -> bytes:
    """The bell stands first: it is heard also where the message is not understood.

    The message begins with our name. One that began with a digit and a semicolon would be a command to some terminals.
    Where the terminal does not read UTF-8, a byte of a letter may be a control, so only ASCII is sent.
    """
    text = sanitize_line(": ".join(filter(None, ("Termvisor", notice.title, notice.body))), _MAX_MESSAGE_CHARS)
    message = b"\x1b]9;" + text.encode("utf-8" if is_utf8 else "ascii", "replace") + _BELL
    return {"bell": _BELL, "message": message, "both": _BELL + message}[settings.notify_terminal]


def _write_some(descriptor: int, data: bytes) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0
