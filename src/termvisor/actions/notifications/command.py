"""The way `command`: a program of the user's that reads the notice as one JSON object."""

import os

import msgspec

from termvisor.actions.notifications.channel import Sent, ended
from termvisor.model.action.notification import Notice, NotifySettings
from termvisor.system.subprocesses import ask_apart


class Command:
    async def send(self, notice: Notice, settings: NotifySettings) -> Sent:
        words = settings.notify_command
        data = msgspec.json.encode(notice) + b"\n"
        status, _, errors = await ask_apart(words, stdin=data, timeout=settings.notify_timeout)
        return ended(os.path.basename(words[0]), status, errors)
