"""One connection to the PTY host: requests with answers, and reports of terminals that changed."""

import asyncio
import os
import socket
from collections.abc import Callable

from termvisor.backends.pty.host_messages import HostedProgram, parse_program
from termvisor.errors import Unavailable
from termvisor.pty_host.startup import PROTOCOL_VERSION
from termvisor.recorder.sockets import SOCKET_KIND, SeqpacketChannel, close_descriptors
from termvisor.system.files import open_memory_file

# Maximum number of messages handled per readiness event, so that a flood does not block the event loop.
_MAX_MESSAGES_PER_READ = 32


class HostConnection:
    """``ready`` is done once the host has listed all its terminals; ``pid`` is the host's."""

    def __init__(
        self,
        connection: socket.socket,
        on_program: Callable[[int, HostedProgram | None], None],
        on_end: Callable[[], None],
    ):
        self._loop = asyncio.get_running_loop()
        connection.setblocking(False)
        self._socket = connection
        self._channel = SeqpacketChannel(connection)
        self._on_program, self._on_end = on_program, on_end
        self._outbox: list[tuple[bytes, int]] = []
        self._answers: dict[int, asyncio.Future[list[str]]] = {}
        self._next_id = 1
        self.is_ready = False
        self.pid = 0
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self.hung_up: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(connection.fileno(), self._on_readable)
        self._send(b"daemon %d\n" % PROTOCOL_VERSION, -1)

    async def request(self, line: str, attachment: bytes | None = None) -> list[str]:
        """Return the words of the answer. Raises Unavailable if the host hangs up first."""
        if self._channel.fileno() < 0:
            raise Unavailable("the PTY host is not connected")
        request_id, self._next_id = self._next_id, self._next_id + 1
        answer: asyncio.Future[list[str]] = self._loop.create_future()
        self._answers[request_id] = answer
        try:
            fd = -1 if attachment is None else open_memory_file("visor-pty", attachment)
            self._send(f"{request_id} {line}\n".encode(), fd)
            return await answer
        finally:
            self._answers.pop(request_id, None)

    def send_unanswered(self, line: str) -> None:
        """Send a request whose answer does not matter."""
        if self._channel.fileno() >= 0:
            self._send(f"0 {line}\n".encode(), -1)

    def close(self) -> None:
        if self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel.fileno())
            self._loop.remove_writer(self._channel.fileno())
            self._channel.close()
        for _, fd in self._outbox:
            _close_attachment(fd)
        self._outbox.clear()
        for answer in self._answers.values():
            _fail(answer, Unavailable("the PTY host hung up"))
        _fail(self.ready, Unavailable("the PTY host hung up"))
        if not self.hung_up.done():
            self.hung_up.set_result(None)

    def _send(self, message: bytes, fd: int) -> None:
        self._outbox.append((message, fd))
        self._flush_outbox()

    def _flush_outbox(self) -> None:
        if self._channel.fileno() < 0:
            return
        self._loop.remove_writer(self._channel.fileno())
        try:
            while self._outbox:
                message, fd = self._outbox[0]
                socket.send_fds(self._socket, [message], [fd] if fd >= 0 else [])
                del self._outbox[0]
                _close_attachment(fd)
        except BlockingIOError:
            self._loop.add_writer(self._channel.fileno(), self._flush_outbox)
        except OSError:
            # The host is gone; _on_readable handles the end of file.
            pass

    def _on_readable(self) -> None:
        for _ in range(_MAX_MESSAGES_PER_READ):
            try:
                lines, fds = self._channel.receive()
            except BlockingIOError:
                return
            except EOFError:
                # Close first: a descriptor at end of file stays readable and would trigger this callback in a loop.
                self.close()
                self._on_end()
                return
            close_descriptors(fds)
            for line in lines:
                self._handle_line(line.decode("ascii", "replace"))

    def _handle_line(self, line: str) -> None:
        first, *words = line.split(" ")
        if first.isdigit():
            answer = self._answers.get(int(first))
            if answer is not None and not answer.done():
                answer.set_result(words)
        elif first == "terminal":
            self._on_program(int(words[0]), parse_program(words[0], words[1:]))
        elif first == "gone":
            self._on_program(int(words[0]), None)
        elif first == "hello":
            self.pid = int(words[1])
        elif first == "ready":
            self.is_ready = True
            if not self.ready.done():
                self.ready.set_result(None)
        elif first == "version":
            _fail(self.ready, Unavailable(f"the running PTY host uses protocol {line}, not {PROTOCOL_VERSION}"))


def open_host_socket(path: str) -> socket.socket:
    """Connect. Raises FileNotFoundError or ConnectionRefusedError if no host listens."""
    connection = socket.socket(socket.AF_UNIX, SOCKET_KIND)
    try:
        connection.setblocking(False)
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def _close_attachment(fd: int) -> None:
    if fd >= 0:
        os.close(fd)


def _fail(future: asyncio.Future, error: Exception) -> None:  # type: ignore[type-arg]
    if not future.done():
        future.set_exception(error)
        # Mark it as seen: its waiter may have been cancelled.
        future.exception()
