"""Send a notification as a signed HTTP request, and retry a few times with the same id.

A short-lived worker process makes the request, so that the daemon never loads TLS.
"""

import os
import stat

import msgspec

from termvisor.actions.notifications.channels import NotificationResult
from termvisor.actions.notifications.http_post import PostRequest, PostResult
from termvisor.clock import NS, Clock
from termvisor.errors import ConfigError
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.settings import get_environment
from termvisor.system.worker import TIMED_OUT, run_isolated_worker

# Seconds before the second and the third attempt; there is no fourth.
_RETRY_DELAYS_S = (1.0, 4.0)
# Extra seconds for the worker process, in addition to the request's timeout.
_WORKER_START_S = 5.0
_MAX_SECRET_BYTES = 4096


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
        # Use a new timestamp for each attempt, because receivers reject old signatures.
        stamped = msgspec.structs.replace(request, timestamp=self._clock.now() // NS)
        # -I: environment variables must not change which code receives the secret.
        done = await run_isolated_worker(
            "termvisor.actions.notifications.http_post:post_notice",
            (stamped,),
            returns=PostResult,
            timeout_s=request.timeout + _WORKER_START_S,
            python_options=("-I",),
        )
        if done.values:
            return done.values[0]
        is_timeout = done.status == TIMED_OUT
        text = f"the worker exited with status {done.status}"
        return PostResult(why="timeout" if is_timeout else "program_failed", text=text, may_pass=is_timeout)


def read_secret(reference: str) -> str:
    """Return the secret that the reference names; empty for an empty reference. Raises ``ConfigError``."""
    kind, _, name = reference.partition(":")
    if kind == "file":
        return _read_secret_file(name)
    secret = get_environment().get(name, "") if kind == "env" else ""
    if reference and not secret:
        raise ConfigError(f"{name} is not set in the daemon's environment", hint="Set it, then restart the daemon.")
    return secret


def _read_secret_file(path: str) -> str:
    try:
        with open(path, "rb", opener=_open_private) as file:
            text = file.read(_MAX_SECRET_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the secret in {path} cannot be read: {why}") from error
    if not text:
        raise ConfigError(f"the secret in {path} is empty")
    return text


def _open_private(path: str, flags: int) -> int:
    # O_NONBLOCK: opening a named pipe must not block the daemon.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and not mode & 0o077:
        return descriptor
    os.close(descriptor)
    raise ConfigError(f"{path} is readable by others, or not a regular file", hint=f"Run `chmod 600 {path}`.")
