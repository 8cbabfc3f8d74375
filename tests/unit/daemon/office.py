"""A desk that answers without a world behind it, and the endpoint in front of it, for tests of the socket."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from termvisor.daemon.server.connection import Limits
from termvisor.daemon.server.listener import Endpoint, bind
from termvisor.errors import NotFound, UnknownCommand
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.system.peer_credentials import Peer


class FakeDesk:
    def __init__(self) -> None:
        self.begun, self.cancelled, self.stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_finish = asyncio.Event()
        self.keeps_recorder = False
        self.reloads = 0

    def hello(self) -> rpc.Hello:
        return rpc.Hello("9.9.9", face.PROTOCOL, 4242, ("watch_numbers",))

    async def answer(self, asked: face.Asked, _who: Peer) -> AsyncGenerator[bytes, None]:
        yield face.output(b"o", " ".join(asked.argv).encode())
        yield face.output(b"e", b"by the way")
        await getattr(self, f"_{asked.argv[0]}")({"count": 1})
        yield face.frame(b"x", 3)

    async def call(self, name: str, params: dict[str, Any], _who: Peer) -> Any:
        found = getattr(self, f"_{name}", None)
        if found is None:
            raise UnknownCommand(f"there is no {name}", hint="Did you mean echo?", details={"nearest": ["echo"]})
        return await found(params)

    async def stream(self, _name: str, params: dict[str, Any], _who: Peer) -> AsyncGenerator[Any, None]:
        for number in range(params["count"]):
            yield number
        await self._wait({}) if params.get("forever") else None

    async def reload(self) -> None:
        self.reloads += 1

    def stop(self, *, keep_recorder: bool) -> None:
        self.keeps_recorder = keep_recorder
        self.stopped.set()

    async def _echo(self, params: dict[str, Any]) -> Any:
        return params

    async def _big(self, params: dict[str, Any]) -> Any:
        return "x" * params["count"]

    async def _boom(self, _params: dict[str, Any]) -> Any:
        raise ZeroDivisionError("secret details")

    async def _missing(self, _params: dict[str, Any]) -> Any:
        raise NotFound("no pane 7", details={"pane": 7})

    async def _wait(self, _params: dict[str, Any]) -> Any:
        self.begun.set()
        try:
            await self.may_finish.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "finished"


@asynccontextmanager
async def endpoint(path: str, desk: FakeDesk, limits: Limits | None = None) -> AsyncIterator[Endpoint]:
    async with asyncio.TaskGroup() as group:
        one = Endpoint(desk, group, limits)
        await one.open(bind(path))
        try:
            yield one
        finally:
            await one.close(drain_for=0.0)


class Client:
    """Speaks raw bytes, as strange clients do."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader, self.writer = reader, writer

    async def ask(self, method: str, to: int = 1, **params: Any) -> dict[str, Any]:
        self.send(rpc.encode(rpc.Request(method, params, to)))
        return await self.hear()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def hear(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(await self.reader.readline())
        return found

    async def hear_end(self) -> bytes:
        return await self.reader.read()


@asynccontextmanager
async def client(path: str) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 25)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
