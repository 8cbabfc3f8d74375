"""Send a desktop notification: `notify-send` on Linux; `osascript` on macOS, which is untested."""

import sys
from collections.abc import Sequence

from termvisor.actions.notifications.channel import NotificationResult, build_program_result
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.system.subprocesses import run_isolated

_APPLESCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class DesktopChannel:
    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
        command = build_argv(notice, sys.platform)
        status, _, errors = await run_isolated(command, timeout_s=settings.notify_timeout)
        return build_program_result(command[0], status, errors)


def build_argv(notice: UserNotification, platform: str) -> Sequence[str]:
    """Return the command line; ``--`` keeps a title or body from being parsed as an option."""
    if platform == "darwin":
        script = [word for line in _APPLESCRIPT for word in ("-e", line)]
        return ["osascript", *script, "--", notice.title, notice.body]
    return ["notify-send", "--app-name=Termvisor", "--", notice.title, _escape_markup(notice.body)]


def _escape_markup(text: str) -> str:
    # The body of a desktop notification is markup, its title is plain text.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
