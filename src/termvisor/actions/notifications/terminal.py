"""The way `terminal`: a bell and a message (OSC 9) to the terminals at which somebody is attached.

Invariant: nothing but a terminal of this very user is ever written to, nobody waits for one that does not take it, and
a message that was begun is ended: a terminal that got half of one would swallow what its program draws next.
"""

import os
import stat

from termvisor.actions.notifications.channel import Sent
from termvisor.actions.notifications.recipients import Audience
from termvisor.actions.notifications.sanitize import one_line
from termvisor.backends.pane_control import Client
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.model.action.notification import Notice, NotifySettings

_LONGEST = 200
_BELL = b"\x07"
_TRIES, _AGAIN_AFTER = 20, 0.05


class Terminal:
    def __init__(self, audience: Audience, clock: Clock):
        self._audience, self._clock = audience, clock

    async def send(self, notice: Notice, settings: NotifySettings) -> Sent:
        try:
            clients = {client.tty: client for client in await self._audience.clients()}
        except MuxError as error:
            return Sent("failed", "no_answer", error.message)
        if not clients:
            return Sent("failed", "nobody_attached", "nobody is attached to a tmux server that is watched")
        told = [await self._tell(client, notice, settings) for client in clients.values()]
        if not any(told):
            return Sent("failed", "not_writable", "no attached terminal is yours and takes a message now")
        return Sent("done", text=f"{sum(told)} of {len(told)} attached terminals")

    async def _tell(self, client: Client, notice: Notice, settings: NotifySettings) -> bool:
        descriptor = opened(client.tty)
        if descriptor is None:
            return False
        try:
            return await self._write(descriptor, signs(notice, settings, is_utf8=client.is_utf8))
        except OSError:
            return False
        finally:
            os.close(descriptor)

    async def _write(self, descriptor: int, data: bytes) -> bool:
        """A terminal that takes nothing at all is left alone; one that took a part gets the rest."""
        rest = data[_some(descriptor, data) :]
        tries = _TRIES if len(rest) < len(data) else 0
        while rest and tries:
            await self._clock.sleep(_AGAIN_AFTER)
            rest = rest[_some(descriptor, rest) :]
            tries -= 1
        return not rest


def opened(tty: str) -> int | None:
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


def signs(notice: Notice, settings: NotifySettings, *, is_utf8: bool) -> bytes:
    """The bell stands first: it is heard also where the message is not understood.

    The message begins with our name. One that began with a digit and a semicolon would be a command to some terminals.
    Where the terminal does not read UTF-8, a byte of a letter may be a control, so only ASCII is sent.
    """
    text = one_line(": ".join(filter(None, ("Termvisor", notice.title, notice.body))), _LONGEST)
    message = b"\x1b]9;" + text.encode("utf-8" if is_utf8 else "ascii", "replace") + _BELL
    return {"bell": _BELL, "message": message, "both": _BELL + message}[settings.notify_terminal]


def _some(descriptor: int, data: bytes) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0
