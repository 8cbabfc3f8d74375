"""Serve one client connection: read request lines, run the requests concurrently and send their answers.

Invariants: unread input and unsent answers of a client use bounded memory; disconnecting cancels the client's running
operations; no request can stop the daemon except `shutdown`.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable

from msgspec import Struct

from termvisor.daemon.server.dispatcher import (
    ClientContext,
    ClientDisconnected,
    RequestHandler,
    handle_command,
    handle_rpc,
)
from termvisor.errors import BadRequest
from termvisor.log import get_logger
from termvisor.protocol import command_protocol, jsonrpc, unix_socket
from termvisor.protocol.unix_socket import LineBuffer, LineTooLong
from termvisor.system.procfs import read_start_time

log = get_logger("daemon.connection")
RequestWork = Callable[[], Awaitable[None]]


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Resource limits of client connections."""

    uid: int = os.getuid()
    max_line_bytes: int = command_protocol.MAX_LINE_BYTES
    max_unread_bytes: int = 1 << 20
    """Bytes of answers buffered for a client that does not read; beyond this, its operations wait."""
    stall_timeout_s: float = 30.0
    """A client that reads nothing for this long is disconnected."""
    max_in_flight: int = 64
    max_clients: int = 1024


class ClientConnection(asyncio.Protocol):
    def __init__(
        self,
        handler: RequestHandler,
        group: asyncio.TaskGroup,
        limits: ConnectionLimits,
        on_closed: Callable[["ClientConnection"], None],
    ):
        self._handler, self._group, self._limits, self._on_closed = handler, group, limits, on_closed
        self._lines = LineBuffer(limits.max_line_bytes)
        self._pending_lines: deque[bytes] = deque()
        self._running_requests: dict[asyncio.Task[None], jsonrpc.RpcRequest | None] = {}
        self._write_lock = asyncio.Lock()
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_input_closed = False
        self._abort_timer: asyncio.TimerHandle | None = None

    @property
    def running_tasks(self) -> set[asyncio.Task[None]]:
        return set(self._running_requests)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - always true for a stream server
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        transport.set_write_buffer_limits(high=self._limits.max_unread_bytes)
        self._peer = unix_socket.read_peer(self._socket)
        # Read now, so that a later process with the same id is not taken for this client.
        self._peer.started = read_start_time(self._peer.pid)
        # A second check in addition to file permissions, in case the socket's folder was made accessible to others.
        if self._peer.uid != self._limits.uid:
            log.warning("refused a client of user %d", self._peer.uid)
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._pending_lines.clear()
        self.cancel()
        # Wakes requests that are waiting to write, which then see that the transport is closing.
        self._writable.set()
        if self._abort_timer:
            self._abort_timer.cancel()
        self._on_closed(self)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        if self._is_input_closed:
            return
        try:
            self._pending_lines += self._lines.feed(data)
        except LineTooLong as error:
            # The start of the next request is unknown, so the connection cannot be used any further.
            self._transport.write(
                jsonrpc.encode_message(
                    jsonrpc.build_error_response(None, BadRequest(str(error)), jsonrpc.INVALID_REQUEST)
                )
            )
            self.close()
        self._start_pending()

    def eof_received(self) -> bool:
        if unix_socket.is_peer_gone(self._socket.fileno()):
            return False
        if rest := self._lines.get_rest():
            self._pending_lines.append(rest)
        self._is_input_closed = True
        self._start_pending()
        self._group.create_task(self._watch_half_closed_client())
        return True

    def cancel(self, *, streams_only: bool = False) -> None:
        """Cancel running requests; with ``streams_only``, only the streams, which never end on their own."""
        streams = self._handler.get_hello().streams
        for task, request in list(self._running_requests.items()):
            if not streams_only or (request and request.method in streams):
                task.cancel()

    def close(self) -> None:
        """Close after the client has read all answers, or after the stall timeout."""
        self._is_input_closed = True
        self._pending_lines.clear()
        if not self._transport.is_closing():
            self._transport.close()
            self._abort_timer = asyncio.get_running_loop().call_later(
                self._limits.stall_timeout_s, self._transport.abort
            )

    def _start_pending(self) -> None:
        """Start pending requests up to the limit; stop reading from the client while some are still pending."""
        while self._pending_lines and len(self._running_requests) < self._limits.max_in_flight:
            self._handle_line(self._pending_lines.popleft())
        if self._transport.is_closing():
            return
        if self._pending_lines:
            self._transport.pause_reading()
        elif not self._is_input_closed:
            self._transport.resume_reading()
        elif not self._running_requests:
            self.close()

    def _handle_line(self, line: bytes) -> None:
        # A command line uses a connection of its own; everything else is JSON-RPC.
        if line.startswith(b"!"):
            self._is_input_closed = True
            self._pending_lines.clear()
            self._start_task(lambda: handle_command(ClientContext(self._handler, self._peer), line, self._send), None)
            return
        request = jsonrpc.parse_request(line)
        if isinstance(request, jsonrpc.RpcResponse):
            self._start_task(lambda: self._send(jsonrpc.encode_message(request)), None)
        elif request.method == "cancel":
            self._cancel_request(request.params.get("id"))
        else:
            self._start_task(lambda: handle_rpc(ClientContext(self._handler, self._peer), request, self._send), request)

    def _start_task(self, work: RequestWork, request: jsonrpc.RpcRequest | None) -> None:
        task = self._group.create_task(_run_guarded(work))
        self._running_requests[task] = request
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        del self._running_requests[task]
        self._start_pending()

    def _cancel_request(self, request_id: jsonrpc.RequestId) -> None:
        for task, request in self._running_requests.items():
            if request and request.id == request_id:
                task.cancel()

    async def _watch_half_closed_client(self) -> None:
        """Poll until a half-closed client disconnects fully, because asyncio does not report that."""
        while self._running_requests and not self._transport.is_closing():
            await asyncio.wait(self.running_tasks, timeout=0.5)
            if not self._transport.is_closing() and unix_socket.is_peer_gone(self._socket.fileno()):
                self._transport.abort()

    async def _send(self, data: bytes) -> None:
        async with self._write_lock:
            await self._wait_until_writable()
            if self._transport.is_closing():
                raise ClientDisconnected
            self._transport.write(data)

    async def _wait_until_writable(self) -> None:
        try:
            async with asyncio.timeout(self._limits.stall_timeout_s):
                await self._writable.wait()
        except TimeoutError:
            log.warning("disconnected a client that did not read its answers for %g s", self._limits.stall_timeout_s)
            self._transport.abort()


async def _run_guarded(work: RequestWork) -> None:
    """Log an unexpected exception instead of letting it cancel the daemon's task group."""
    try:
        await work()
    except ClientDisconnected:
        return
    except Exception:
        log.exception("a client request failed")
