"""An agent's server session with scripted answers."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from termvisor.agents.adapters.server_contract import PermissionRequest
from termvisor.errors import TimedOut

PERMISSION_REQUEST = PermissionRequest(
    id="3:i", tool="shell", command="touch made", given='{"reason":"to see"}', cwd="/src"
)


class ScriptedSessionControl:
    session = "a-conversation"

    def __init__(self, permission_request: PermissionRequest | None = None, *, stops: bool | None = None):
        self.waiting, self.stops = permission_request, stops
        self.received: list[str] = []
        self.is_held = self.is_lost = self.is_silent = False
        self.resolved = asyncio.Event()
        self.starts_turn: bool | Exception = True

    @asynccontextmanager
    async def wait_for_request(self, known_ids: Collection[str] = ()) -> AsyncIterator[PermissionRequest]:
        self.is_held = True
        try:
            if self.waiting is None or self.waiting.id in known_ids:
                raise TimedOut("nothing waits")
            yield self.waiting
        finally:
            self.is_held = False

    async def answer_request(self, permission_request: PermissionRequest, decision: str) -> bool:
        if permission_request != self.waiting or self.resolved.is_set():
            return False
        self.received.append(decision)
        if self.is_silent:
            raise TimedOut("no answer")
        self.resolved.set()
        return True

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        await self.resolved.wait()
        return not self.is_lost

    def can_prompt(self, pane_title: str) -> bool:
        return True

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        self.received.append(prompt_text)
        if isinstance(self.starts_turn, Exception):
            raise self.starts_turn
        return self.starts_turn

    async def stop_turn(self) -> bool | None:
        self.received.append("stop")
        if self.is_silent:
            raise TimedOut("no answer")
        return self.stops
