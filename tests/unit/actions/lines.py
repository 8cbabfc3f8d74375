"""The server of an agent, with the answers that a test gives it."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from termvisor.agents.adapters.server_contract import Plea
from termvisor.errors import TimedOut

PLEA = Plea(id="3:i", tool="shell", command="touch made", given='{"reason":"to see"}', cwd="/src")


class ScriptedLine:
    session = "a-conversation"

    def __init__(self, plea: Plea | None = None, *, stops: bool | None = None):
        self.waiting, self.stops = plea, stops
        self.said: list[str] = []
        self.is_held = self.is_lost = self.is_silent = False
        self.resolved = asyncio.Event()
        self.begins: bool | Exception = True

    @asynccontextmanager
    async def plea(self, known: Collection[str] = ()) -> AsyncIterator[Plea]:
        self.is_held = True
        try:
            if self.waiting is None or self.waiting.id in known:
                raise TimedOut("nothing waits")
            yield self.waiting
        finally:
            self.is_held = False

    async def answer(self, plea: Plea, decision: str) -> bool:
        if plea != self.waiting or self.resolved.is_set():
            return False
        self.said.append(decision)
        if self.is_silent:
            raise TimedOut("no answer")
        self.resolved.set()
        return True

    async def until_answered(self, plea: Plea) -> bool:
        await self.resolved.wait()
        return not self.is_lost

    def may_prompt(self, title: str) -> bool:
        return True

    async def prompt(self, words: str, title: str) -> bool:
        self.said.append(words)
        if isinstance(self.begins, Exception):
            raise self.begins
        return self.begins

    async def stop(self) -> bool | None:
        self.said.append("stop")
        if self.is_silent:
            raise TimedOut("no answer")
        return self.stops
