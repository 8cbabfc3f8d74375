"""The way `webhook`: one signed HTTP request, tried a few times under the same id.

The request itself is made by a short-lived process (`post`), so that TLS never weighs on the daemon.
"""

import sys

import msgspec

from termvisor.actions.notifications.channel import NotificationResult
from termvisor.actions.notifications.http_post_worker import PostRequest, PostResult
from termvisor.actions.notifications.secret_reference import read_secret
from termvisor.clock import NS, Clock
from termvisor.errors import ConfigError
from termvisor.model.action.notification import NotificationSettings, UserNotification
from termvisor.system.subprocesses import run_isolated

_RETRY_DELAYS_S = (1.0, 4.0)
"""Seconds before the second and the third try; there is no fourth."""
_WORKER_START_S = 5.0
"""Seconds that the process itself may need beside the request."""


class WebhookChannel:
    def __init__(self, clock: Clock):
        self._clock = clock

    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
        try:
            key = read_secret(settings.notify_webhook_secret)
        except ConfigError as error:
            return NotificationResult("failed", "no_secret", error.message)
        letter = PostRequest(
            url=settings.notify_webhook_url,
            id=notice.id,
            body=msgspec.json.encode(notice).decode(),
            secret=key,
            timeout=settings.notify_timeout,
        )
        answer = await self._run_worker(letter)
        for pause in _RETRY_DELAYS_S:
            if not answer.may_pass:
                break
            await self._clock.sleep(pause)
            answer = await self._run_worker(letter)
        return _build_result(answer)

    async def _run_worker(self, request: PostRequest) -> PostResult:
        stamped = msgspec.structs.replace(request, timestamp=self._clock.now() // NS)
        program = [sys.executable, "-I", "-m", "termvisor.actions.notifications.http_post_worker"]
        asked = msgspec.json.encode(stamped)
        status, out, _ = await run_isolated(program, stdin=asked, timeout_s=request.timeout + _WORKER_START_S)
        try:
            return msgspec.json.decode(out, type=PostResult)
        except msgspec.MsgspecError:
            why = "timeout" if status == 124 else "program_failed"
            return PostResult(why=why, text=f"the request ended with status {status}", may_pass=status == 124)


def _build_result(result: PostResult) -> NotificationResult:
    return (
        NotificationResult("failed", result.why, result.text)
        if result.why
        else NotificationResult("done", text=result.text)
    )
