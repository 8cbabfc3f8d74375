"""Script a conversation with a job, as `expect` does: start it, wait for prompts, answer them, extract values, finish.

    async with connect() as visor, JobFlow.start(visor, "gh", "auth", "login", extractor="gh_auth_login") as flow:
        await flow.expect("Press Enter")
        code = (await flow.extract())["code"]
        await flow.send("")
        assert await flow.wait_end() == 0

Every step passes the gate like the command of the same name. A prompt counts once the job is proven to wait for input.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from termvisor.client.visor import AsyncVisor
from termvisor.errors import StateConflict

_ENDED = ("finished", "lost")


class JobFlow:
    """A conversation with one job. Its methods raise VisorError, among them TimedOut where they wait."""

    def __init__(self, visor: AsyncVisor, job: int, extractor: str = ""):
        self._visor, self.job, self._extractor = visor, job, extractor

    @classmethod
    @asynccontextmanager
    async def start(
        cls, visor: AsyncVisor, *command: str, extractor: str = "", **options: Any
    ) -> AsyncIterator["JobFlow"]:
        """Start a command as it is, and stop it at the end of the block if it still runs.

        ``options`` are those of `run`: ``cwd``, ``env``, ``place``, ``timeout``, ``detect``, ``redact``, …
        """
        started = await visor.run(command=command, exact=True, extractor=extractor, **options)
        flow = cls(visor, started["job"]["id"], extractor)
        try:
            yield flow
        finally:
            if (await flow.read_status())["state"] not in _ENDED:
                await visor.job_stop(job=str(flow.job))

    async def read_status(self) -> dict[str, Any]:
        return dict(await self._visor.job_status(job=str(self.job)))

    async def expect(self, pattern: str = "", *, timeout_secs: float = 60.0) -> str:
        """Wait until the job waits for input at a prompt that matches; return the prompt.

        Raises StateConflict if it ends first or asks something else.
        """
        states = "waiting_for_input,finished,lost"
        seen = await self._visor.job_wait(job=str(self.job), state=states, timeout_secs=timeout_secs)
        prompt = str(seen.get("prompt", ""))
        if seen["state"] in _ENDED:
            raise StateConflict(f"job {self.job} ended before it asked for {pattern!r}")
        if not re.search(pattern, prompt, re.IGNORECASE):
            raise StateConflict(f"job {self.job} asks {prompt!r}, not {pattern!r}")
        return prompt

    async def send(self, text: str, *, enter: bool = True) -> None:
        """Type a text, and press Enter."""
        await self._visor.job_send(job=str(self.job), text=text, no_enter=not enter)

    async def send_secret(self, secret: str) -> None:
        """Type a secret, which is masked wherever it comes back."""
        await self._visor.job_send(job=str(self.job), text=secret, secret=True)

    async def press(self, *keys: str) -> None:
        await self._visor.job_send(job=str(self.job), text=" ".join(keys), keys=True)

    async def read_text(self) -> str:
        """Return the output so far, redacted: its first megabyte, in lines."""
        page = await self._visor.job_harvest(job=str(self.job))
        return "\n".join([*(line["text"] for line in page.get("lines", ())), page.get("pending", "")])

    async def extract(self, extractor: str = "", *, secret_file: str = "") -> dict[str, str]:
        """Return the named values in the output; secret ones go to a new file only."""
        name = extractor or self._extractor
        found = await self._visor.job_extract(job=str(self.job), extractor=name, secret_file=secret_file)
        return dict(found.get("values", {}))

    async def wait_end(self, *, timeout_secs: float = 600.0) -> int:
        """Wait until the job has ended; return its exit status, 128 + n for signal n.

        Raises StateConflict if it is lost.
        """
        seen = await self._visor.job_wait(job=str(self.job), ended=True, timeout_secs=timeout_secs)
        if seen["state"] == "lost":
            raise StateConflict(f"job {self.job} is lost: {seen.get('why', '')}")
        return 128 + int(seen["signal"]) if seen.get("signal") else int(seen["code"])
