"""Send commands to a tmux server by speaking tmux's own client protocol over the server's socket.

Each request is one connection, as if a `tmux` process had been run: it is attached to no session, no listing shows it,
and it changes no default target. It costs no process.

A message is OpenBSD's imsg: a header of 16 bytes (type, length, protocol version, process id) and data. After the
identify messages comes one command list; the server then opens streams for what commands print (1) and their errors
(2), reads our standard input if a command names `-`, and ends with the exit status. No descriptor is passed: the
server would only look whether it is a terminal. A message of a wrong size ends older servers, so nothing is sent to
a server whose version is not in `server_safety`.
"""

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Callable, Sequence

from termvisor.backends.tmux.commands import TmuxCommand, TmuxReply, render_argv, render_script, split_output
from termvisor.errors import MuxError

PROTOCOL_VERSION = 8
# A reply takes half a millisecond; a server that needs this long hangs or is stopped.
REPLY_TIMEOUT_S = 10.0
_HEADER = struct.Struct("=IIII")
_INT, _TWO_INTS, _LONG = struct.Struct("=i"), struct.Struct("=ii"), struct.Struct("=Q")
_MAX_MESSAGE_BYTES = 16384
_MAX_DATA_BYTES = _MAX_MESSAGE_BYTES - _HEADER.size
# Far above any listing or scrollback; a server that sends more is not what we think it is.
_MAX_OUTPUT_BYTES = 256 << 20
# Below the backlog of tmux's socket (128): a full one refuses connections.
_MAX_CONNECTIONS = 32
_CONNECT_RETRY_S = 0.005
# How long, and how many, finished connections are kept if disconnects are delayed.
_DISCONNECT_INTERVAL_S = 30.0
_MAX_FINISHED_CONNECTIONS = 64

_MSG_VERSION, _MSG_EXIT, _MSG_SHUTDOWN, _MSG_COMMAND = 12, 203, 210, 200
_MSG_IDENTIFY_TERM, _MSG_IDENTIFY_TTYNAME, _MSG_IDENTIFY_DONE = 101, 102, 106
_MSG_IDENTIFY_CLIENTPID, _MSG_IDENTIFY_FEATURES, _MSG_IDENTIFY_LONGFLAGS = 107, 109, 111
_MSG_READ_OPEN, _MSG_READ, _MSG_READ_DONE, _MSG_READ_CANCEL = 300, 301, 302, 307
_MSG_WRITE_OPEN, _MSG_WRITE, _MSG_WRITE_READY, _MSG_WRITE_CLOSE = 303, 304, 305, 306
_STDOUT, _STDERR = 1, 2
# Without it tmux replaces characters beyond ASCII in what commands print.
_FLAG_UTF8 = 0x10000


class TmuxProtocolError(MuxError):
    """The server does not speak the protocol as expected; `tmux` processes must be used instead."""


class NativeClient:
    """A client that opens one connection to the socket for each request.

    A request raises MuxError if another process than at the first request listens on the socket. Call close() when the
    client is no longer used.
    """

    kind = "native"

    def __init__(self, socket_path: str, on_protocol_error: Callable[[str], None] = lambda reason: None):
        self._socket_path, self._on_protocol_error = socket_path, on_protocol_error
        self._greeting = _build_greeting()
        # Requests beyond the limit wait; their number is bounded by the callers (one batch per server and purpose).
        self._connection_slots = asyncio.Semaphore(_MAX_CONNECTIONS)
        self._peer_pid: int | None = None
        self.delays_disconnects = False
        """Keep finished connections for a while and close them together (see `server_safety`)."""
        self._finished: list[socket.socket] = []
        self._disconnect_timer: asyncio.TimerHandle | None = None

    async def request(self, *commands: TmuxCommand, stdin: bytes = b"") -> TmuxReply:
        """Run commands as one unit. A list too long for one message is read by the server as a script."""
        message = _pack_command(render_argv(commands))
        if len(message) > _MAX_DATA_BYTES:
            if stdin:
                raise MuxError("the tmux command is too long")
            message = _pack_command(["source-file", "-"])
            stdin = f"{render_script(commands)}\n".encode()
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_S), self._connection_slots:
                return await self._run_request(self._greeting + _pack(_MSG_COMMAND, message), stdin)
        except TmuxProtocolError as error:
            self._on_protocol_error(str(error))
            raise
        except TimeoutError as error:
            raise MuxError(f"tmux did not answer within {REPLY_TIMEOUT_S:.0f} s") from error
        except OSError as error:
            raise MuxError(f"no connection to the tmux server at {self._socket_path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the finished connections that are still open: the server does not exit before."""
        if self._disconnect_timer is not None:
            self._disconnect_timer.cancel()
            self._disconnect_timer = None
        finished, self._finished = self._finished, []
        for connection in finished:
            connection.close()

    async def _run_request(self, request: bytes, stdin: bytes) -> TmuxReply:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            connection.setblocking(False)
            await self._connect(connection)
            self._check_peer(connection)
            return await _Exchange(connection, stdin).run(request)
        finally:
            self._disconnect(connection)

    async def _connect(self, connection: socket.socket) -> None:
        while True:
            try:
                return connection.connect(self._socket_path)
            except BlockingIOError:
                # The backlog is full, and a Unix socket does not report when there is room again.
                await asyncio.sleep(_CONNECT_RETRY_S)

    def _disconnect(self, connection: socket.socket) -> None:
        self._finished.append(connection)
        if not self.delays_disconnects or len(self._finished) >= _MAX_FINISHED_CONNECTIONS:
            self.close()
        elif self._disconnect_timer is None:
            loop = asyncio.get_running_loop()
            self._disconnect_timer = loop.call_later(_DISCONNECT_INTERVAL_S, self.close)

    def _check_peer(self, connection: socket.socket) -> None:
        pid = _read_peer_pid(connection)
        if self._peer_pid not in (None, pid):
            raise MuxError("another tmux server took over this socket")
        self._peer_pid = pid


class _Exchange:
    """One connection: sends a command list, serves the streams that the server opens, and collects the answer."""

    def __init__(self, connection: socket.socket, stdin: bytes):
        self._connection, self._stdin = connection, stdin
        self._loop = asyncio.get_running_loop()
        self._streams: dict[int, bytearray] = {_STDOUT: bytearray(), _STDERR: bytearray()}
        self._has_exited = False

    async def run(self, request: bytes) -> TmuxReply:
        await self._loop.sock_sendall(self._connection, request)
        received = bytearray()
        while not self._has_exited:
            data = await self._loop.sock_recv(self._connection, 1 << 16)
            if not data:
                raise MuxError("the tmux server closed the connection")
            received += data
            await self._handle_messages(received)
        error = bytes(self._streams[_STDERR]).decode("utf-8", "replace").strip()
        return TmuxReply(split_output(bytes(self._streams[_STDOUT])), error)

    async def _handle_messages(self, received: bytearray) -> None:
        """Handle every complete message and remove it from the buffer."""
        start, answer = 0, bytearray()
        while len(received) - start >= _HEADER.size and not self._has_exited:
            kind, length, version, _ = _HEADER.unpack_from(received, start)
            if version & 0xFF != PROTOCOL_VERSION or kind == _MSG_VERSION:
                raise TmuxProtocolError(f"the tmux server speaks protocol version {version & 0xFF}")
            if not _HEADER.size <= length <= _MAX_MESSAGE_BYTES:
                raise TmuxProtocolError(f"the tmux server sent a message of {length} bytes")
            if len(received) - start < length:
                break
            answer += self._handle_message(kind, bytes(received[start + _HEADER.size : start + length]))
            start += length
        del received[:start]
        if answer:
            await self._loop.sock_sendall(self._connection, answer)

    def _handle_message(self, kind: int, data: bytes) -> bytes:
        """Handle one message of the server and return the messages that answer it."""
        if kind == _MSG_WRITE:
            self._append_output(_read_stream_number(data), data[_INT.size :])
        elif kind == _MSG_WRITE_OPEN:
            return _pack(_MSG_WRITE_READY, _TWO_INTS.pack(_read_stream_number(data), 0))
        elif kind == _MSG_READ_OPEN:
            return self._pack_stdin(_read_stream_number(data))
        elif kind in (_MSG_EXIT, _MSG_SHUTDOWN):
            self._has_exited = True
            # An exit message is what the server says when it ends, never the answer of a command.
            self._streams[_STDERR] += data[_INT.size :].rstrip(b"\0")
        elif kind not in (_MSG_WRITE_CLOSE, _MSG_READ_CANCEL):
            raise TmuxProtocolError(f"the tmux server sent an unknown message ({kind})")
        return b""

    def _append_output(self, stream: int, data: bytes) -> None:
        if stream not in self._streams:
            raise TmuxProtocolError(f"the tmux server wrote to an unknown stream ({stream})")
        self._streams[stream] += data
        if len(self._streams[stream]) > _MAX_OUTPUT_BYTES:
            raise MuxError("the tmux server sent too much output")

    def _pack_stdin(self, stream: int) -> bytes:
        head, size = _INT.pack(stream), _MAX_DATA_BYTES - _INT.size
        parts = [self._stdin[start : start + size] for start in range(0, len(self._stdin), size)]
        messages = [_pack(_MSG_READ, head + part) for part in parts]
        return b"".join([*messages, _pack(_MSG_READ_DONE, _TWO_INTS.pack(stream, 0))])


def _read_peer_pid(connection: socket.socket) -> int:
    """Return the process that listens on the socket; 0 if the system does not tell."""
    if sys.platform != "linux":
        return 0
    pid: int = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return pid


def _read_stream_number(data: bytes) -> int:
    if len(data) < _INT.size:
        raise TmuxProtocolError("the tmux server sent a message that is too short")
    stream: int = _INT.unpack_from(data)[0]
    return stream


def _pack(kind: int, data: bytes = b"") -> bytes:
    return _HEADER.pack(kind, _HEADER.size + len(data), PROTOCOL_VERSION, os.getpid()) + data


def _pack_command(argv: Sequence[str]) -> bytes:
    # An empty list would make tmux run its default command, new-session.
    if not argv:
        raise ValueError("a request needs at least one command")
    return _INT.pack(len(argv)) + b"".join(os.fsencode(word) + b"\0" for word in argv)


def _build_greeting() -> bytes:
    """Return the identify messages: no terminal, no folder and no environment."""
    return b"".join(
        (
            _pack(_MSG_IDENTIFY_LONGFLAGS, _LONG.pack(_FLAG_UTF8)),
            _pack(_MSG_IDENTIFY_TERM, b"dumb\0"),
            _pack(_MSG_IDENTIFY_FEATURES, _INT.pack(0)),
            _pack(_MSG_IDENTIFY_TTYNAME, b"\0"),
            _pack(_MSG_IDENTIFY_CLIENTPID, _INT.pack(os.getpid())),
            _pack(_MSG_IDENTIFY_DONE),
        )
    )
