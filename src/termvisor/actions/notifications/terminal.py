"""Write a bell and a message (OSC 9) to the terminals of the attached tmux clients.

Invariants: only terminals of this user are written to; a terminal that does not accept bytes never blocks; a message
that was started is completed, because a terminal with half of one would swallow what its program draws next.
"""

import os
import stat
from typing import Protocol

from termvisor.actions.notifications.channels import NotificationResult, sanitize_line
from termvisor.backends.pane_control import AttachedClient
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.model.action.notification import UserNotification
from termvisor.model.ids import PaneId
from termvisor.model.settings.notifications import NotificationSettings

_MAX_MESSAGE_CHARS = 200
_BELL = b"\x07"
# One second in total: a message that was started is completed, but a stopped terminal is given up.
_MAX_WRITE_TRIES, _WRITE_RETRY_DELAY_S = 20, 0.05


class NotificationRecipients(Protocol):
    async def list_clients(self) -> list[AttachedClient]:
        """Return the clients attached to the watched servers. Raises ``MuxError`` if no server answers."""

    async def list_viewers(self, pane: PaneId) -> list[AttachedClient]:
        """Return the clients that show this pane; none for a pane that is gone."""

    async def describe_pane(self, pane: PaneId) -> str:
        """Return the pane's location for people; empty if it is gone."""


async def send_to_terminals(
    recipients: NotificationRecipients, clock: Clock, notice: UserNotification, settings: NotificationSettings
) -> NotificationResult:
    try:
        clients = {client.tty: client for client in await recipients.list_clients()}
    except MuxError as error:
        return NotificationResult("failed", "no_answer", error.message)
    if not clients:
        return NotificationResult("failed", "nobody_attached", "no client is attached to a watched tmux server")
    written = [
        await _write_to_terminal(tty, encode_notice(notice, settings, is_utf8=client.is_utf8), clock)
        for tty, client in clients.items()
    ]
    if not any(written):
        return NotificationResult("failed", "not_writable", "no attached terminal is yours and accepts a message now")
    return NotificationResult("done", text=f"{sum(written)} of {len(written)} attached terminals")


async def _write_to_terminal(tty: str, data: bytes, clock: Clock) -> bool:
    """Write all bytes, with retries once the first were accepted; give up if none were."""
    descriptor = open_terminal(tty)
    if descriptor is None:
        return False
    try:
        rest = data[_write_some(descriptor, data) :]
        tries = _MAX_WRITE_TRIES if len(rest) < len(data) else 0
        while rest and tries:
            await clock.sleep(_WRITE_RETRY_DELAY_S)
            rest = rest[_write_some(descriptor, rest) :]
            tries -= 1
        return not rest
    except OSError:
        # The terminal was closed while we wrote: for this notification it does not exist any more.
        return False
    finally:
        os.close(descriptor)


def open_terminal(tty: str) -> int | None:
    """Return a non-blocking descriptor; None if the path is not a terminal of this user."""
    try:
        # O_NONBLOCK: a terminal stopped with Ctrl-S must not block the daemon. O_NOCTTY: it must not become ours.
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    # Checked on the open descriptor: the path comes from tmux and may name another file by now.
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
