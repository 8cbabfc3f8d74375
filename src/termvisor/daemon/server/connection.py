"""One client of the daemon: its requests, run side by side, and the way of their answers back to it.

Invariants: what a client sends or leaves unread costs bounded memory; a client that goes away takes its running
operations with it; nothing it sends can end the daemon but `shutdown`.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable

from msgspec import Struct

from termvisor.daemon.server.request import Caller, ClientGone, Desk, answer_face, answer_rpc
from termvisor.errors import BadRequest
from termvisor.log import logger
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.protocol.line_buffer import Lines, TooLong
from termvisor.system import peer_credentials as peer

log = logger("daemon.connection")
Work = Callable[[], Awaitable[None]]


class Limits(Struct, frozen=True, kw_only=True):
    """What one client may cost, and how many there may be. ``stall_for`` is how long one may leave its answers unread,
    in seconds.
    """

    uid: int = os.getuid()
    line_bytes: int = face.LINE_LIMIT
    unread_bytes: int = 1 << 20
    stall_for: float = 30.0
    in_flight: int = 64
    clients: int = 1024


class Connection(asyncio.Protocol):
    def __init__(self, desk: Desk, group: asyncio.TaskGroup, limits: Limits, ended: Callable[["Connection"], None]):
        self._desk, self._group, self._limits, self._ended = desk, group, limits, ended
        self._lines = Lines(limits.line_bytes)
        self._waiting: deque[bytes] = deque()
        self._running: dict[asyncio.Task[None], rpc.Request | None] = {}
        self._turn = asyncio.Lock()
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_last = False
        self._abort: asyncio.TimerHandle | None = None

    @property
    def running(self) -> set[asyncio.Task[None]]:
        return set(self._running)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream server gives nothing else
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        transport.set_write_buffer_limits(high=self._limits.unread_bytes)
        self._who = peer.peer(self._socket.getsockopt(*peer.OPTION))
        if self._who.uid != self._limits.uid:
            log.warning("refused a client of user %d", self._who.uid)
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.clear()
        self.cancel()
        self._writable.set()
        if self._abort:
            self._abort.cancel()
        self._ended(self)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        if self._is_last:
            return
        try:
            self._waiting += self._lines.feed(data)
        except TooLong as error:
            self._transport.write(rpc.encode(rpc.failed(None, BadRequest(str(error)), rpc.INVALID_REQUEST)))
            self.close()
        self._pump()

    def eof_received(self) -> bool:
        if peer.is_gone(self._socket.fileno()):
            return False
        if rest := self._lines.rest():
            self._waiting.append(rest)
        self._is_last = True
        self._pump()
        self._group.create_task(self._outlive())
        return True

    def cancel(self, *, streams_only: bool = False) -> None:
        """End running requests; with ``streams_only`` just those that would go on by themselves."""
        streams = self._desk.hello().streams
        for task, request in list(self._running.items()):
            if not streams_only or (request and request.method in streams):
                task.cancel()

    def close(self) -> None:
        """End when what was written is read, or when the client had its time to read it."""
        self._is_last = True
        self._waiting.clear()
        if not self._transport.is_closing():
            self._transport.close()
            self._abort = asyncio.get_running_loop().call_later(self._limits.stall_for, self._transport.abort)

    def _pump(self) -> None:
        """Start what may start; read on only when nothing waits."""
        while self._waiting and len(self._running) < self._limits.in_flight:
            self._start(self._waiting.popleft())
        if self._transport.is_closing():
            return
        if self._waiting:
            self._transport.pause_reading()
        elif not self._is_last:
            self._transport.resume_reading()
        elif not self._running:
            self.close()

    def _start(self, line: bytes) -> None:
        if line.startswith(b"!"):
            self._is_last = True
            self._waiting.clear()
            self._begin(lambda: answer_face(Caller(self._desk, self._who), line, self._send), None)
            return
        request = rpc.parse_request(line)
        if isinstance(request, rpc.Answer):
            self._begin(lambda: self._send(rpc.encode(request)), None)
        elif request.method == "cancel":
            self._cancel(request.params.get("id"))
        else:
            self._begin(lambda: answer_rpc(Caller(self._desk, self._who), request, self._send), request)

    def _begin(self, work: Work, request: rpc.Request | None) -> None:
        task = self._group.create_task(_contained(work))
        self._running[task] = request
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._pump()

    def _cancel(self, to: rpc.Id) -> None:
        for task, request in self._running.items():
            if request and request.id == to:
                task.cancel()

    async def _outlive(self) -> None:
        """A client that closed its sending side cannot be heard leaving: look, until its answers are done."""
        while self._running and not self._transport.is_closing():
            await asyncio.wait(self.running, timeout=0.5)
            if not self._transport.is_closing() and peer.is_gone(self._socket.fileno()):
                self._transport.abort()

    async def _send(self, data: bytes) -> None:
        async with self._turn:
            await self._room()
            if self._transport.is_closing():
                raise ClientGone
            self._transport.write(data)

    async def _room(self) -> None:
        try:
            async with asyncio.timeout(self._limits.stall_for):
                await self._writable.wait()
        except TimeoutError:
            log.warning("dropped a client that does not read its answers")
            self._transport.abort()


async def _contained(work: Work) -> None:
    """Whatever goes wrong with one client stays with that client."""
    try:
        await work()
    except ClientGone:
        return
    except Exception:
        log.exception("a conversation failed")
