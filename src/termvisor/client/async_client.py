"""The async client: any number of operations side by side on one connection, each stream on its own."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any

from termvisor.client.connection import HELLO_TIMEOUT_S, connect_to_daemon, read_hello
from termvisor.client.daemon_process import ensure_running
from termvisor.errors import Unavailable, VisorError
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.line_buffer import LineBuffer
from termvisor.settings import Paths
from termvisor.settings import resolve_paths as own_places

_MAX_UNREAD_ITEMS = 1000
"""Items of one stream that may wait for the caller before we stop reading."""


@asynccontextmanager
async def connect(places: Paths | None = None, *, start: bool = True) -> AsyncIterator["AsyncVisor"]:
    """Talk to the daemon of these places; with ``start`` it is started when none runs."""
    where = places or own_places()
    if start:
        await asyncio.to_thread(ensure_running, where)
    async with _open_connection(where) as link:
        yield AsyncVisor(where, link)


class AsyncVisor:
    """Operations as methods: ``await visor.list_panes()``, ``async for event in visor.watch_events()``."""

    def __init__(self, paths: Paths, connection: "_AsyncConnection"):
        self._paths, self._connection = paths, connection

    @property
    def daemon_pid(self) -> int:
        return self._connection.hello.pid

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **params: self._call(name, params)

    def _call(self, name: str, params: dict[str, Any]) -> Any:
        is_stream = name in self._connection.hello.streams or params.get("follow") is True
        return self._stream(name, params) if is_stream else self._connection.call(name, params)

    async def _stream(self, name: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
        # On a connection of its own: a reader that lags holds up nobody but itself.
        async with _open_connection(self._paths) as link, aclosing(link.stream_items(name, params)) as items:
            async for item in items:
                yield item


@asynccontextmanager
async def _open_connection(paths: Paths) -> AsyncIterator["_AsyncConnection"]:
    plug = socket.socket(fileno=connect_to_daemon(paths.daemon_socket).detach())
    _, link = await asyncio.get_running_loop().create_unix_connection(_AsyncConnection, sock=plug)
    try:
        link.hello = await _exchange_hello(link)
        yield link
    finally:
        link.close()


async def _exchange_hello(connection: "_AsyncConnection") -> jsonrpc.DaemonHello:
    try:
        async with asyncio.timeout(HELLO_TIMEOUT_S):
            return read_hello(await connection.call("hello", {"protocol": command_protocol.PROTOCOL_VERSION}))
    except TimeoutError as error:
        raise Unavailable(
            f"the daemon does not answer within {HELLO_TIMEOUT_S:.0f} s", hint=jsonrpc.RESTART_HINT
        ) from error


class _AsyncConnection(asyncio.Protocol):
    """Hands each answer to the request that waits for it."""

    hello: jsonrpc.DaemonHello

    def __init__(self) -> None:
        self._line_buffer, self._request_ids = LineBuffer(), count(1)
        self._answer_queues: dict[jsonrpc.RequestId, asyncio.Queue[jsonrpc.IncomingMessage | VisorError]] = {}
        self._failure: VisorError | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream connection gives nothing else
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(Unavailable("the connection to the daemon ended", hint="Connect again."))

    def data_received(self, data: bytes) -> None:
        try:
            for answer in map(jsonrpc.parse_incoming, self._line_buffer.feed(data)):
                self._route_answer(answer)
        except VisorError as error:
            self._fail(error)
            self._transport.abort()

    def close(self) -> None:
        self._transport.close()

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        async with aclosing(self._iterate_answers(method, params)) as answers:
            async for answer in answers:
                if not answer.method:
                    return answer.result
        raise AssertionError("an exchange ends with a result or an error")

    async def stream_items(self, method: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
        async with aclosing(self._iterate_answers(method, params)) as answers:
            async for answer in answers:
                if answer.params is not None:
                    yield answer.params.item

    async def _iterate_answers(
        self, method: str, params: dict[str, Any]
    ) -> AsyncGenerator[jsonrpc.IncomingMessage, None]:
        if self._failure:
            raise self._failure
        number = next(self._request_ids)
        queue = self._answer_queues[number] = asyncio.Queue()
        self._transport.write(jsonrpc.encode_message(jsonrpc.RpcRequest(method, params, number)))
        is_done = False
        try:
            while not is_done:
                answer = await self._next_answer(queue)
                is_done = not answer.method
                yield answer
        finally:
            del self._answer_queues[number]
            self._transport.resume_reading()
            if not is_done and not self._transport.is_closing():
                self._transport.write(jsonrpc.encode_message(jsonrpc.RpcRequest("cancel", {"id": number})))

    async def _next_answer(
        self, queue: "asyncio.Queue[jsonrpc.IncomingMessage | VisorError]"
    ) -> jsonrpc.IncomingMessage:
        if queue.qsize() < _MAX_UNREAD_ITEMS // 2 and not self._transport.is_closing():
            self._transport.resume_reading()
        found = await queue.get()
        if isinstance(found, VisorError):
            raise found
        if found.error:
            raise jsonrpc.to_visor_error(found.error)
        return found

    def _route_answer(self, answer: jsonrpc.IncomingMessage) -> None:
        queue = self._answer_queues.get(answer.params.id if answer.params else answer.id)
        if queue is None:
            return
        queue.put_nowait(answer)
        if queue.qsize() > _MAX_UNREAD_ITEMS:
            self._transport.pause_reading()

    def _fail(self, error: VisorError) -> None:
        self._failure = self._failure or error
        for queue in self._answer_queues.values():
            queue.put_nowait(self._failure)
