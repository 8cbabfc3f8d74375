"""The server of an agent, with the answers that a test gives it."""

import asyncio
from collections.abc import Mapping

from termvisor.errors import TimedOut
from tests.unit.agents.codex.server_words import THREAD

REQUEST = {
    "method": "item/commandExecution/requestApproval",
    "id": 3,
    "params": {
        "threadId": THREAD,
        "turnId": "u",
        "itemId": "i",
        "command": "/bin/bash -lc 'touch made'",
        "cwd": "/src",
        "reason": "to see",
        "availableDecisions": ["accept", "cancel"],
    },
}


class ScriptedLine:
    thread = THREAD

    def __init__(self, *turns: Mapping[str, object], request: dict | None = None):
        self.turns, self.waiting = list(turns), request
        self.asked: list[str] = []
        self.replies: list[Mapping[str, object]] = []
        self.resolved = asyncio.Event()
        self.is_lost = False
        self.refuses: Exception | None = None

    async def ask(self, method: str, params: Mapping[str, object]) -> dict:
        self.asked.append(method)
        if self.refuses is not None and method.startswith("turn/"):
            raise self.refuses
        if method == "thread/turns/list":
            return {"data": [self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]] if self.turns else []}
        return {"turn": {"id": "u"}} if method == "turn/start" else {}

    async def request(self) -> dict:
        if self.waiting is None:
            raise TimedOut("nothing waits")
        return self.waiting

    async def reply(self, request: dict, result: Mapping[str, object]) -> bool:
        if request != self.waiting or self.resolved.is_set():
            return False
        self.replies.append(result)
        self.resolved.set()
        return True

    async def until_resolved(self, request: dict) -> bool:
        await self.resolved.wait()
        return not self.is_lost
