"""Send a notification as a signed HTTP request, with a few retries under the same id.

The request is made by a short-lived worker process, so that the daemon never loads TLS.
"""

import sys

import msgspec

from termvisor.actions.notifications.channel import NotificationResult
from termvisor.actions.notifications.http_post_worker import PostRequest, PostResult
from termvisor.actions.notifications.secret_reference import read_secret
from termvisor.clock import NS, Clock
from termvisor.errors import ConfigError
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.system.subprocesses import run_isolated

_RETRY_DELAYS_S = (1.0, 4.0)
"""Seconds before the second and the third attempt; there is no fourth."""
_WORKER_START_S = 5.0
"""Seconds that the worker process may need in addition to the request's timeout."""


class WebhookChannel:
    def __init__(self, clock: Clock):
        self._clock = clock

    async def send(self, notice: UserNotification, settings: NotificationSettings) -> NotificationResult:
        try:
            secret = read_secret(settings.notify_webhook_secret)
        except ConfigError as error:
            return NotificationResult("failed", "no_secret", error.message)
        request = PostRequest(
            url=settings.notify_webhook_url,
            id=notice.id,
            body=msgspec.json.encode(notice).decode(),
            secret=secret,
            timeout=settings.notify_timeout,
        )
        result = await self._run_worker(request)
        for delay in _RETRY_DELAYS_S:
            if not result.may_pass:
                break
            await self._clock.sleep(delay)
            result = await self._run_worker(request)
        if result.why:
            return NotificationResult("failed", result.why, result.text)
        return NotificationResult("done", text=result.text)

    async def _run_worker(self, request: PostRequest) -> PostResult:
        stamped = msgspec.structs.replace(request, timestamp=self._clock.now() // NS)
        program = [sys.executable, "-I", "-m", "termvisor.actions.notifications.http_post_worker"]
        timeout_s = request.timeout + _WORKER_START_S
        status, out, _ = await run_isolated(program, stdin=msgspec.json.encode(stamped), timeout_s=timeout_s)
        try:
            return msgspec.json.decode(out, type=PostResult)
        except msgspec.MsgspecError:
            why = "timeout" if status == 124 else "program_failed"
            return PostResult(why=why, text=f"the worker exited with status {status}", may_pass=status == 124)
