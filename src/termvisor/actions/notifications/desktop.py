"""The way `desktop`: `notify-send` on Linux; `osascript` on macOS, which is untested."""

import sys
from collections.abc import Sequence

from termvisor.actions.notifications.channel import Sent, ended
from termvisor.model.action.notification import Notice, NotifySettings
from termvisor.system.subprocesses import ask_apart

_APPLESCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class Desktop:
    async def send(self, notice: Notice, settings: NotifySettings) -> Sent:
        command = argv(notice, sys.platform)
        status, _, errors = await ask_apart(command, timeout=settings.notify_timeout)
        return ended(command[0], status, errors)


def argv(notice: Notice, platform: str) -> Sequence[str]:
    """The texts stand behind ``--``, so that none of them is taken for an option."""
    if platform == "darwin":
        script = [word for line in _APPLESCRIPT for word in ("-e", line)]
        return ["osascript", *script, "--", notice.title, notice.body]
    return ["notify-send", "--app-name=Termvisor", "--", notice.title, _escaped(notice.body)]


def _escaped(text: str) -> str:
    """The body of a desktop notification is markup, its title is not."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
