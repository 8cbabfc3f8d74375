"""The server's end of an opencode: answers from a table, takes what is posted, and tells the events of a test."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

HEAD = "HTTP/1.1 {} X\r\nContent-Type: {}\r\n{}\r\n"


class OpencodeServer:
    def __init__(self) -> None:
        self.port = 0
        self.answers: dict[str, object] = {"/session": [], "/session/status": {}, "/permission": [], "/question": []}
        self.statuses: dict[str, int] = {}
        """Of answers to what is posted; 200 where nothing else is said."""
        self.posted: list[tuple[str, object]] = []
        self.asked: list[str] = []
        self.lines: list[asyncio.StreamWriter] = []
        self.news = asyncio.Condition()
        self.is_mute = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split("\r\n")[0].split(" ")
        size = next(int(row.split(":")[1]) for row in head.split("\r\n") if row.lower().startswith("content-length"))
        body = await reader.readexactly(size)
        if path == "/event":
            await self._tell(writer)
        else:
            await self._answer(writer, method, path.partition("?")[0], body)

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD.format(200, "text/event-stream", "Transfer-Encoding: chunked\r\n").encode())
        self.lines.append(writer)
        self.say("server.connected")
        async with self.news:
            self.news.notify_all()

    async def _answer(self, writer: asyncio.StreamWriter, method: str, path: str, body: bytes) -> None:
        status, answer = 200, self.answers.get(path, True)
        async with self.news:
            self.asked.append(path)
            if method == "POST":
                self.posted.append((path, json.loads(body)))
                status, answer = self.statuses.get(path, 200), True
            self.news.notify_all()
        data = json.dumps(answer).encode() if not isinstance(answer, bytes) else answer
        if not (self.is_mute and method == "POST"):
            writer.write(HEAD.format(status, "application/json", f"Content-Length: {len(data)}\r\n").encode() + data)
            writer.close()

    def say(self, kind: str, **properties: object) -> None:
        self.send(f"data: {json.dumps({'id': 'evt_1', 'type': kind, 'properties': properties})}\n\n".encode())

    def send(self, data: bytes) -> None:
        for line in self.lines:
            line.write(b"%x\r\n%s\r\n" % (len(data), data))

    def hang_up(self) -> None:
        for line in self.lines:
            line.close()
        self.lines.clear()

    async def until(self, is_it) -> None:
        async with asyncio.timeout(20), self.news:
            await self.news.wait_for(is_it)


@asynccontextmanager
async def opencode_server() -> AsyncIterator[OpencodeServer]:
    one = OpencodeServer()
    async with await asyncio.start_server(one.serve, "127.0.0.1", 0) as server:
        one.port = server.sockets[0].getsockname()[1]
        yield one
        one.hang_up()
