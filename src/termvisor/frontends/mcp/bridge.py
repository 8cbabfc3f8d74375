"""Run `visor mcp`: move lines between a client on stdin and stdout, the session and the daemon, in one poll loop.

Invariant: stdout holds only the protocol; the process ends when its client closes stdin.
"""

import os
import select
from time import monotonic

from termvisor.frontends.cli.fast_client import get_socket_path, write_all
from termvisor.frontends.mcp.daemon_link import DaemonLink
from termvisor.frontends.mcp.messages import MAX_LINE_BYTES, encode_line
from termvisor.frontends.mcp.session import McpSession
from termvisor.frontends.mcp.tool_list import UnknownToolName, load_tool_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHUNK = 1 << 16
_DRAIN_S = 2.0
"""How long calls may still be answered after the client closed stdin."""


def run_bridge(tools: str = "core") -> int:
    """Serve the client on stdin and stdout until it closes stdin. Return the exit status."""
    try:
        chosen = load_tool_list(word.strip() for word in tools.split(",") if word.strip())
    except UnknownToolName as error:
        write_all(2, f"visor: {error}\nhint: For example `visor mcp --tools core,reserve,release`.\n".encode())
        return 2
    # Whatever else prints in this process reaches the client's log, not the protocol.
    output = os.dup(1)
    os.dup2(2, 1)
    Bridge(output, DaemonLink(get_socket_path(os.environ), monotonic), chosen).run()  # noqa: TID251 - importing settings is too slow here
    return 0


class Bridge:
    def __init__(self, output: int, link: DaemonLink, tools: "Any"):
        self._output, self._link = output, link
        self._session = McpSession(tools, link, self._send, monotonic)
        self._lines = ClientLines()

    def run(self) -> None:
        """Serve until stdin is closed, then answer what is left."""
        is_open, until = True, 0.0
        while is_open or (self._session.has_open_calls and monotonic() < until):
            if self._poll(is_open, _DRAIN_S if not is_open else None) and is_open and not self._read_client():
                is_open, until = False, monotonic() + _DRAIN_S
            self._link.on_timer()
            self._session.report_progress()

    def _poll(self, is_open: bool, limit: "float | None") -> bool:
        """Wait for input or a timer; serve the daemon. Return True if the client can be read."""
        poll, daemon = select.poll(), self._link.fileno()
        if is_open:
            poll.register(0, select.POLLIN)
        if daemon >= 0:
            poll.register(daemon, select.POLLIN | (select.POLLOUT if self._link.has_unsent else 0))
        delays = [delay for delay in (self._session.get_delay(), self._link.get_delay(), limit) if delay is not None]
        has_client_input = False
        for descriptor, events in poll.poll(min(delays) * 1000 + 1 if delays else None):
            if descriptor == 0:
                has_client_input = True
            else:
                if events & select.POLLOUT:
                    self._link.on_writable()
                if events & ~select.POLLOUT and self._link.fileno() == daemon:
                    self._link.on_readable()
        return has_client_input

    def _read_client(self) -> bool:
        """Handle what the client sent; return False if it closed."""
        try:
            data = os.read(0, _CHUNK)
        except OSError:  # started without stdin
            data = b""
        for line in self._lines.feed(data):
            self._session.handle_line(line)
        if not data and (rest := self._lines.take_rest()):
            self._session.handle_line(rest)
        return bool(data)

    def _send(self, message: "dict[str, Any]") -> None:
        write_all(self._output, encode_line(message))


class ClientLines:
    """Assembles chunks into lines. A line that is too long is replaced by one that is no JSON."""

    def __init__(self, limit: int = MAX_LINE_BYTES):
        self._limit, self._data, self._is_skipping = limit, bytearray(), False

    def feed(self, chunk: bytes) -> "list[bytes]":
        """Return the lines completed by this chunk, without newlines."""
        *lines, rest = chunk.split(b"\n")
        complete = []
        for line in lines:
            self._data += line
            complete.append(b"!" if self._is_skipping or len(self._data) > self._limit else bytes(self._data))
            self._data.clear()
            self._is_skipping = False
        self._data += rest
        if len(self._data) > self._limit:
            self._data.clear()
            self._is_skipping = True
        return complete

    def take_rest(self) -> bytes:
        rest, self._data = bytes(self._data), bytearray()
        return rest
