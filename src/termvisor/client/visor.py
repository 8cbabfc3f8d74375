"""The clients: every operation is a method, `AsyncVisor` with asyncio, `Visor` with a plain blocking socket."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any

from termvisor.client.connection import HELLO_TIMEOUT_S, BlockingConnection, connect_to_daemon, read_hello
from termvisor.client.daemon_process import ensure_running
from termvisor.errors import Unavailable, VisorError
from termvisor.model.action.action import CallerFace
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import LineBuffer
from termvisor.settings import Paths, resolve_paths

# Maximum stream items to queue for the caller before the client stops reading the socket.
_MAX_UNREAD_ITEMS = 1000


@asynccontextmanager
async def connect(
    places: Paths | None = None, *, start: bool = True, face: CallerFace = "python"
) -> AsyncIterator["AsyncVisor"]:
    """Connect to the daemon at ``places`` (default: this user's). With ``start``, start it if it is not running.

    ``face`` names the interface; the daemon decides who is behind it.
    """
    paths = places or resolve_paths()
    if start:
        await asyncio.to_thread(ensure_running, paths)
    async with _open_connection(paths, face) as connection:
        yield AsyncVisor(paths, connection, face)


class _OperationMethods:
    """Every operation as a method. ``_stream`` starts an operation that yields items."""

    _connection: "_AsyncConnection | BlockingConnection"
    _stream: Callable[[str, dict[str, Any]], Any]

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


class AsyncVisor(_OperationMethods):
    """Operations as methods: ``await visor.list_panes()``, ``async for event in visor.watch_events()``."""

    def __init__(self, paths: Paths, connection: "_AsyncConnection", face: CallerFace = "python"):
        self._paths, self._connection, self._face = paths, connection, face

    async def _stream(self, name: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
        # Use a separate connection, so that a slow reader does not delay the answers to other calls.
        async with (
            _open_connection(self._paths, self._face) as connection,
            aclosing(connection.stream_items(name, params)) as items,
        ):
            async for item in items:
                yield item


class Visor(_OperationMethods):
    """Operations as methods: ``visor.list_panes(session="work")``. A stream is an iterator on its own connection."""

    def __init__(self, places: Paths | None = None, *, start: bool = True):
        self._paths = places or resolve_paths()
        if start:
            ensure_running(self._paths)
        self._connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket))

    def __enter__(self) -> "Visor":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def _stream(self, name: str, params: dict[str, Any]) -> Iterator[Any]:
        # Use a separate connection, because a blocking one reads the answers to one request at a time.
        connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket))
        try:
            yield from connection.stream_items(name, params)
        finally:
            connection.close()


@asynccontextmanager
async def _open_connection(paths: Paths, face: CallerFace) -> AsyncIterator["_AsyncConnection"]:
    sock = socket.socket(fileno=connect_to_daemon(paths.daemon_socket).detach())
    _, connection = await asyncio.get_running_loop().create_unix_connection(_AsyncConnection, sock=sock)
    try:
        connection.hello = await _exchange_hello(connection, face)
        yield connection
    finally:
        connection.close()


async def _exchange_hello(connection: "_AsyncConnection", face: CallerFace) -> jsonrpc.DaemonHello:
    try:
        async with asyncio.timeout(HELLO_TIMEOUT_S):
            params = {"protocol": command_protocol.PROTOCOL_VERSION, "face": face}
            return read_hello(await connection.call("hello", params))
    except TimeoutError as error:
        raise Unavailable(
            f"the daemon did not answer within {HELLO_TIMEOUT_S:.0f} s", hint=jsonrpc.RESTART_HINT
        ) from error


class _AsyncConnection(asyncio.Protocol):
    """Routes each answer to the queue of its request."""

    hello: jsonrpc.DaemonHello

    def __init__(self) -> None:
        self._line_buffer, self._request_ids = LineBuffer(), count(1)
        self._answer_queues: dict[jsonrpc.RequestId, asyncio.Queue[jsonrpc.IncomingMessage | VisorError]] = {}
        self._failure: VisorError | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a connection from asyncio has no other type
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(Unavailable("the connection to the daemon was closed", hint="Connect again."))

    def data_received(self, data: bytes) -> None:
        try:
            for answer in map(jsonrpc.parse_incoming, self._line_buffer.feed(data)):
                self._route_answer(answer)
        except VisorError as error:
            # The byte stream is out of sync, so no later answer on this connection can be trusted.
            self._fail(error)
            self._transport.abort()

    def close(self) -> None:
        self._transport.close()

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        async with aclosing(self._iterate_answers(method, params)) as answers:
            async for answer in answers:
                if not answer.method:
                    return answer.result
        raise AssertionError("answers end with a result or an error")

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
        request_id = next(self._request_ids)
        queue = self._answer_queues[request_id] = asyncio.Queue()
        self._transport.write(jsonrpc.encode_message(jsonrpc.RpcRequest(method, params, request_id)))
        is_done = False
        try:
            while not is_done:
                answer = await self._next_answer(queue)
                is_done = not answer.method
                yield answer
        finally:
            del self._answer_queues[request_id]
            # Reading may have been paused because this queue was full.
            self._transport.resume_reading()
            if not is_done and not self._transport.is_closing():
                self._transport.write(jsonrpc.encode_message(jsonrpc.RpcRequest("cancel", {"id": request_id})))

    async def _next_answer(
        self, queue: "asyncio.Queue[jsonrpc.IncomingMessage | VisorError]"
    ) -> jsonrpc.IncomingMessage:
        if queue.qsize() < _MAX_UNREAD_ITEMS // 2 and not self._transport.is_closing():
            self._transport.resume_reading()
        answer = await queue.get()
        if isinstance(answer, VisorError):
            raise answer
        if answer.error:
            raise jsonrpc.to_visor_error(answer.error)
        return answer

    def _route_answer(self, answer: jsonrpc.IncomingMessage) -> None:
        queue = self._answer_queues.get(answer.params.id if answer.params else answer.id)
        if queue is None:
            # The caller stopped reading, so drop items that arrive late.
            return
        queue.put_nowait(answer)
        if queue.qsize() > _MAX_UNREAD_ITEMS:
            self._transport.pause_reading()

    def _fail(self, error: VisorError) -> None:
        self._failure = self._failure or error
        for queue in self._answer_queues.values():
            queue.put_nowait(self._failure)
