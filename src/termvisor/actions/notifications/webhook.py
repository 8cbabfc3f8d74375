"""The way `webhook`: one signed HTTP request, tried a few times under the same id.

The request itself is made by a short-lived process (`post`), so that TLS never weighs on the daemon.
"""

import sys

import msgspec

from termvisor.actions.notifications.channel import Sent
from termvisor.actions.notifications.http_post_worker import Answer, Letter
from termvisor.actions.notifications.secret_reference import secret
from termvisor.clock import NS, Clock
from termvisor.errors import ConfigError
from termvisor.model.action.notification import Notice, NotifySettings
from termvisor.system.subprocesses import ask_apart

_PAUSES = (1.0, 4.0)
"""Seconds before the second and the third try; there is no fourth."""
_START_FOR = 5.0
"""Seconds that the process itself may need beside the request."""


class Webhook:
    def __init__(self, clock: Clock):
        self._clock = clock

    async def send(self, notice: Notice, settings: NotifySettings) -> Sent:
        try:
            key = secret(settings.notify_webhook_secret)
        except ConfigError as error:
            return Sent("failed", "no_secret", error.message)
        letter = Letter(
            url=settings.notify_webhook_url,
            id=notice.id,
            body=msgspec.json.encode(notice).decode(),
            secret=key,
            timeout=settings.notify_timeout,
        )
        answer = await self._post(letter)
        for pause in _PAUSES:
            if not answer.may_pass:
                break
            await self._clock.sleep(pause)
            answer = await self._post(letter)
        return _sent(answer)

    async def _post(self, letter: Letter) -> Answer:
        stamped = msgspec.structs.replace(letter, timestamp=self._clock.now() // NS)
        program = [sys.executable, "-I", "-m", "termvisor.actions.notifications.http_post_worker"]
        asked = msgspec.json.encode(stamped)
        status, out, _ = await ask_apart(program, stdin=asked, timeout=letter.timeout + _START_FOR)
        try:
            return msgspec.json.decode(out, type=Answer)
        except msgspec.MsgspecError:
            why = "timeout" if status == 124 else "program_failed"
            return Answer(why=why, text=f"the request ended with status {status}", may_pass=status == 124)


def _sent(answer: Answer) -> Sent:
    return Sent("failed", answer.why, answer.text) if answer.why else Sent("done", text=answer.text)
