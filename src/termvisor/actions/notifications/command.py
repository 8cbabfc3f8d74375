"""Send a notification to a program of the user, as one JSON object on stdin."""

import os

import msgspec

from termvisor.actions.notifications.channel import NotificationResult, build_program_result
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.system.subprocesses import run_isolated


class CommandChannel:
    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
        words = settings.notify_command
        data = msgspec.json.encode(notice) + b"\n"
        status, _, errors = await run_isolated(words, stdin=data, timeout_s=settings.notify_timeout)
        return build_program_result(os.path.basename(words[0]), status, errors)
