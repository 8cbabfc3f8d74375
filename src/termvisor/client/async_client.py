"""The async client: any number of operations side by side on one connection, each stream on its own."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any

from termvisor.client.connection import ANSWERS_WITHIN, connected, read_hello
from termvisor.client.daemon_process import ensure_running
from termvisor.errors import Unavailable, VisorError
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.protocol.line_buffer import Lines
from termvisor.settings import Places
from termvisor.settings import places as own_places

_UNREAD_ITEMS = 1000
"""Items of one stream that may wait for the caller before we stop reading."""


@asynccontextmanager
async def connect(places: Places | None = None, *, start: bool = True) -> AsyncIterator["AsyncVisor"]:
    """Talk to the daemon of these places; with ``start`` it is started when none runs."""
    where = places or own_places()
    if start:
        await asyncio.to_thread(ensure_running, where)
    async with _linked(where) as link:
        yield AsyncVisor(where, link)


class AsyncVisor:
    """Operations as methods: ``await visor.list_panes()``, ``async for event in visor.watch_events()``."""

    def __init__(self, where: Places, link: "_Link"):
        self._where, self._link = where, link

    @property
    def daemon_pid(self) -> int:
        return self._link.hello.pid

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **params: self._run(name, params)

    def _run(self, name: str, params: dict[str, Any]) -> Any:
        is_stream = name in self._link.hello.streams or params.get("follow") is True
        return self._stream(name, params) if is_stream else self._link.call(name, params)

    async def _stream(self, name: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
        # On a connection of its own: a reader that lags holds up nobody but itself.
        async with _linked(self._where) as link, aclosing(link.items(name, params)) as items:
            async for item in items:
                yield item


@asynccontextmanager
async def _linked(where: Places) -> AsyncIterator["_Link"]:
    plug = socket.socket(fileno=connected(where.daemon_socket).detach())
    _, link = await asyncio.get_running_loop().create_unix_connection(_Link, sock=plug)
    try:
        link.hello = await _greet(link)
        yield link
    finally:
        link.close()


async def _greet(link: "_Link") -> rpc.Hello:
    try:
        async with asyncio.timeout(ANSWERS_WITHIN):
            return read_hello(await link.call("hello", {"protocol": face.PROTOCOL}))
    except TimeoutError as error:
        raise Unavailable(f"the daemon does not answer within {ANSWERS_WITHIN:.0f} s", hint=rpc.RESTART) from error


class _Link(asyncio.Protocol):
    """Hands each answer to the request that waits for it."""

    hello: rpc.Hello

    def __init__(self) -> None:
        self._lines, self._ids = Lines(), count(1)
        self._waiting: dict[rpc.Id, asyncio.Queue[rpc.Incoming | VisorError]] = {}
        self._lost: VisorError | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream connection gives nothing else
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(Unavailable("the connection to the daemon ended", hint="Connect again."))

    def data_received(self, data: bytes) -> None:
        try:
            for answer in map(rpc.parse_incoming, self._lines.feed(data)):
                self._hand_over(answer)
        except VisorError as error:
            self._fail(error)
            self._transport.abort()

    def close(self) -> None:
        self._transport.close()

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        async with aclosing(self._answers(method, params)) as answers:
            async for answer in answers:
                if not answer.method:
                    return answer.result
        raise AssertionError("an exchange ends with a result or an error")

    async def items(self, method: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
        async with aclosing(self._answers(method, params)) as answers:
            async for answer in answers:
                if answer.params is not None:
                    yield answer.params.item

    async def _answers(self, method: str, params: dict[str, Any]) -> AsyncGenerator[rpc.Incoming, None]:
        if self._lost:
            raise self._lost
        number = next(self._ids)
        queue = self._waiting[number] = asyncio.Queue()
        self._transport.write(rpc.encode(rpc.Request(method, params, number)))
        is_done = False
        try:
            while not is_done:
                answer = await self._next(queue)
                is_done = not answer.method
                yield answer
        finally:
            del self._waiting[number]
            self._transport.resume_reading()
            if not is_done and not self._transport.is_closing():
                self._transport.write(rpc.encode(rpc.Request("cancel", {"id": number})))

    async def _next(self, queue: "asyncio.Queue[rpc.Incoming | VisorError]") -> rpc.Incoming:
        if queue.qsize() < _UNREAD_ITEMS // 2 and not self._transport.is_closing():
            self._transport.resume_reading()
        found = await queue.get()
        if isinstance(found, VisorError):
            raise found
        if found.error:
            raise rpc.raised(found.error)
        return found

    def _hand_over(self, answer: rpc.Incoming) -> None:
        queue = self._waiting.get(answer.params.id if answer.params else answer.id)
        if queue is None:
            return
        queue.put_nowait(answer)
        if queue.qsize() > _UNREAD_ITEMS:
            self._transport.pause_reading()

    def _fail(self, error: VisorError) -> None:
        self._lost = self._lost or error
        for queue in self._waiting.values():
            queue.put_nowait(self._lost)
