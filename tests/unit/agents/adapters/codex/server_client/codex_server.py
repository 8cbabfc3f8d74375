"""The server's end of an app-server's socket: answers from a table, and says what the test wants."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termvisor.agents.adapters.codex.server_client.app_server import SOCKET
from tests.unit.agents.adapters.codex.server_client.test_websocket import heard, plain, shake_hands

TEXT = 1


class CodexServer:
    def __init__(self) -> None:
        self.answers: dict[str, object] = {
            "initialize": {"userAgent": "codex-tui/0.166.0"},
            "thread/list": {"data": []},
            "thread/loaded/list": {"data": []},
            "thread/turns/list": {"data": []},
        }
        self.asked: list[dict] = []
        self.lines: list[asyncio.StreamWriter] = []
        self.news = asyncio.Condition()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await shake_hands(reader, writer)
        self.lines.append(writer)
        try:
            while (frame := await heard(reader)).code == TEXT:
                await self._take(json.loads(frame.data), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.lines.remove(writer)
            writer.close()

    async def _take(self, message: dict, writer: asyncio.StreamWriter) -> None:
        async with self.news:
            self.asked.append(message)
            self.news.notify_all()
        if "method" in message and "id" in message:
            self._answer(message, writer)

    def _answer(self, message: dict, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.get(message["method"], ValueError("unknown method"))
        refused = {"code": -32600, "message": str(answer)}
        result = {"error": refused} if isinstance(answer, Exception) else {"result": answer}
        if answer is not None:
            writer.write(plain(TEXT, json.dumps({"id": message["id"], **result}).encode()))

    def say(self, message: dict) -> None:
        for line in self.lines:
            line.write(plain(TEXT, json.dumps(message).encode()))

    def hang_up(self) -> None:
        for line in self.lines:
            line.close()

    async def was_asked(self, method: str, times: int = 1) -> dict:
        async with self.news:
            await self.news.wait_for(lambda: len(self._asked(method)) >= times)
        return self._asked(method)[-1]

    def _asked(self, method: str) -> list[dict]:
        return [one for one in self.asked if one.get("method") == method]


@asynccontextmanager
async def codex_server(home: str, *, is_settled: bool = True) -> AsyncIterator[CodexServer]:
    """One that listens in this home, for a while already or only just now."""
    path = os.path.join(home, SOCKET)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    server = CodexServer()
    async with await asyncio.start_unix_server(server.serve, path):
        if is_settled:
            os.utime(path, (1, 1))
        yield server
        server.hang_up()
