"""A fake opencode server: answers from a table, accepts posts and sends the events of a test."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

RESPONSE_HEAD = "HTTP/1.1 {} X\r\nContent-Type: {}\r\n{}\r\n"


class FakeOpencodeServer:
    def __init__(self) -> None:
        self.port = 0
        self.answers: dict[str, object] = {"/session": [], "/session/status": {}, "/permission": [], "/question": []}
        self.statuses: dict[str, int] = {}
        """HTTP status of POST answers by path; the default is 200."""
        self.posted_requests: list[tuple[str, object]] = []
        self.requested_paths: list[str] = []
        self.event_writers: list[asyncio.StreamWriter] = []
        self.request_received = asyncio.Condition()
        self.is_silent = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split("\r\n")[0].split(" ")
        size = next(int(row.split(":")[1]) for row in head.split("\r\n") if row.lower().startswith("content-length"))
        body = await reader.readexactly(size)
        if path == "/event":
            await self._stream_events(writer)
        else:
            await self._send_answer(writer, method, path.partition("?")[0], body)

    async def _stream_events(self, writer: asyncio.StreamWriter) -> None:
        writer.write(RESPONSE_HEAD.format(200, "text/event-stream", "Transfer-Encoding: chunked\r\n").encode())
        self.event_writers.append(writer)
        self.send_event("server.connected")
        async with self.request_received:
            self.request_received.notify_all()

    async def _send_answer(self, writer: asyncio.StreamWriter, method: str, path: str, body: bytes) -> None:
        status, answer = 200, self.answers.get(path, True)
        async with self.request_received:
            self.requested_paths.append(path)
            if method == "POST":
                self.posted_requests.append((path, json.loads(body)))
                status, answer = self.statuses.get(path, 200), True
            self.request_received.notify_all()
        data = json.dumps(answer).encode() if not isinstance(answer, bytes) else answer
        if not (self.is_silent and method == "POST"):
            writer.write(
                RESPONSE_HEAD.format(status, "application/json", f"Content-Length: {len(data)}\r\n").encode() + data
            )
            writer.close()

    def send_event(self, kind: str, **properties: object) -> None:
        self.send_chunk(f"data: {json.dumps({'id': 'evt_1', 'type': kind, 'properties': properties})}\n\n".encode())

    def send_chunk(self, data: bytes) -> None:
        for writer in self.event_writers:
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))

    def close_connections(self) -> None:
        for writer in self.event_writers:
            writer.close()
        self.event_writers.clear()

    async def wait_for(self, condition) -> None:
        async with asyncio.timeout(20), self.request_received:
            await self.request_received.wait_for(condition)


@asynccontextmanager
async def run_fake_opencode_server() -> AsyncIterator[FakeOpencodeServer]:
    one = FakeOpencodeServer()
    async with await asyncio.start_server(one.serve, "127.0.0.1", 0) as server:
        one.port = server.sockets[0].getsockname()[1]
        yield one
        one.close_connections()
