"""A fake request handler and a real socket server in front of it, for tests of connections."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from termvisor.daemon.server.connection import ConnectionLimits
from termvisor.daemon.server.listener import DaemonSocketServer, bind_daemon_socket
from termvisor.errors import NotFound, UnknownCommand
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import PeerProcess


class FakeRequestHandler:
    def __init__(self) -> None:
        self.begun, self.cancelled, self.stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_finish = asyncio.Event()
        self.keeps_recorder = False
        self.reloads = 0

    def get_hello(self) -> jsonrpc.DaemonHello:
        return jsonrpc.DaemonHello("9.9.9", command_protocol.PROTOCOL_VERSION, 4242, ("watch_numbers",))

    async def run_command(
        self, request: command_protocol.CommandRequest, _who: PeerProcess
    ) -> AsyncGenerator[bytes, None]:
        yield command_protocol.encode_output(b"o", " ".join(request.argv).encode())
        yield command_protocol.encode_output(b"e", b"by the way")
        await getattr(self, f"_{request.argv[0]}")({"count": 1})
        yield command_protocol.encode_frame(b"x", 3)

    async def call_operation(self, name: str, params: dict[str, Any], _who: PeerProcess) -> Any:
        found = getattr(self, f"_{name}", None)
        if found is None:
            raise UnknownCommand(f"there is no {name}", hint="Did you mean echo?", details={"nearest": ["echo"]})
        return await found(params)

    async def stream_operation(
        self, _name: str, params: dict[str, Any], _who: PeerProcess
    ) -> AsyncGenerator[Any, None]:
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
async def run_socket_server(
    path: str, handler: FakeRequestHandler, limits: ConnectionLimits | None = None
) -> AsyncIterator[DaemonSocketServer]:
    async with asyncio.TaskGroup() as group:
        one = DaemonSocketServer(handler, group, limits)
        await one.open(bind_daemon_socket(path))
        try:
            yield one
        finally:
            await one.close(drain_timeout_s=0.0)


class RawClient:
    """A client that sends raw bytes, also malformed ones."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader, self.writer = reader, writer

    async def call(self, method: str, request_id: int = 1, **params: Any) -> dict[str, Any]:
        self.send(jsonrpc.encode_message(jsonrpc.RpcRequest(method, params, request_id)))
        return await self.read_message()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def read_message(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(await self.reader.readline())
        return found

    async def read_to_end(self) -> bytes:
        return await self.reader.read()


@asynccontextmanager
async def connect_client(path: str) -> AsyncIterator[RawClient]:
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 25)
    try:
        yield RawClient(reader, writer)
    finally:
        writer.close()
