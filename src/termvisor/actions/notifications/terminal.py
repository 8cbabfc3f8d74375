"""Write a bell and a message (OSC 9) to the terminals of the attached tmux clients.

Invariants: only terminals of this user are written to; a terminal that does not accept bytes never blocks; a message
that was started is completed, because a terminal with half of one would swallow what its program draws next.
"""

import os
import stat

from termvisor.actions.notifications.channel import NotificationResult
from termvisor.actions.notifications.recipients import NotificationRecipients
from termvisor.actions.notifications.sanitize import sanitize_line
from termvisor.backends.pane_control import AttachedClient
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings

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
            return NotificationResult("failed", "nobody_attached", "no client is attached to a watched tmux server")
        written = [await self._write_to_client(client, notice, settings) for client in clients.values()]
        if not any(written):
            text = "no attached terminal is yours and accepts a message now"
            return NotificationResult("failed", "not_writable", text)
        return NotificationResult("done", text=f"{sum(written)} of {len(written)} attached terminals")

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
        """Write all bytes, with retries once the first were accepted; give up if none were."""
        rest = data[_write_some(descriptor, data) :]
        tries = _MAX_WRITE_TRIES if len(rest) < len(data) else 0
        while rest and tries:
            await self._clock.sleep(_WRITE_RETRY_DELAY_S)
            rest = rest[_write_some(descriptor, rest) :]
            tries -= 1
        return not rest


def open_terminal(tty: str) -> int | None:
    """Return a non-blocking descriptor; None if the path is not a terminal of this user."""
    try:
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if stat.S_ISCHR(status.st_mode) and status.st_uid == os.getuid() and os.isatty(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def encode_notice(notice: UserNotification, settings: NotificationSettings, *, is_utf8: bool) -> bytes:
    """Return the bell and the message as `notify_terminal` selects them.

    The bell comes first: it works where the message is not supported. The message begins with our name, because some
    terminals take one that begins with a digit and a semicolon as a command. A terminal without UTF-8 gets only ASCII,
    because a byte of an encoded character may be a control code there.
    """
    text = sanitize_line(": ".join(filter(None, ("Termvisor", notice.title, notice.body))), _MAX_MESSAGE_CHARS)
    message = b"\x1b]9;" + text.encode("utf-8" if is_utf8 else "ascii", "replace") + _BELL
    return {"bell": _BELL, "message": message, "both": _BELL + message}[settings.notify_terminal]


def _write_some(descriptor: int, data: bytes) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0
