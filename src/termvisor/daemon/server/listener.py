"""Bind the daemon's private Unix socket, accept clients on it, and remove it when the daemon stops.

A socket file without a listener was left behind by a killed daemon, so it is removed and bound again.
"""

import asyncio
import contextlib
import os
import resource
import socket
import stat
from collections.abc import AsyncGenerator
from typing import Any

from termvisor.daemon.server.connection import ClientConnection, ConnectionLimits
from termvisor.daemon.server.dispatcher import RequestHandler
from termvisor.errors import StateConflict, Unavailable
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import PeerProcess

_SOCKET_BACKLOG = 1024
# A client beyond the limit has this long to read its error (or to send `shutdown`).
_OVERLOAD_CLOSE_DELAY_S = 2.0
MAX_CLIENTS = 4096


class DaemonSocketServer:
    def __init__(self, handler: RequestHandler, group: asyncio.TaskGroup, limits: ConnectionLimits | None = None):
        self._handler, self._group = handler, group
        self._limits = limits or ConnectionLimits(max_clients=compute_max_clients())
        self._connections: set[ClientConnection] = set()

    async def open(self, listener: socket.socket) -> None:
        """Accept clients on a socket from `bind_daemon_socket`."""
        self._path = listener.getsockname()
        self._inode = os.stat(self._path).st_ino
        self._server = await asyncio.get_running_loop().create_unix_server(
            self._accept_client, sock=listener, backlog=_SOCKET_BACKLOG
        )

    async def close(self, drain_timeout_s: float = 2.0) -> None:
        """Stop accepting, wait ``drain_timeout_s`` for running requests, then cancel the rest."""
        self._remove_socket_file()
        self._server.close()
        for connection in self._connections:
            connection.cancel(streams_only=True)
        if running := {task for connection in self._connections for task in connection.running_tasks}:
            await asyncio.wait(running, timeout=drain_timeout_s)
        for connection in list(self._connections):
            connection.cancel()
            connection.close()

    def _accept_client(self) -> ClientConnection:
        is_overloaded = len(self._connections) >= self._limits.max_clients
        handler = OverloadHandler(self._handler, self._limits.max_clients) if is_overloaded else self._handler
        connection = ClientConnection(handler, self._group, self._limits, self._connections.discard)
        self._connections.add(connection)
        if is_overloaded:
            asyncio.get_running_loop().call_later(_OVERLOAD_CLOSE_DELAY_S, connection.close)
        return connection

    def is_reachable(self) -> bool:
        """Return False if the socket file was removed or replaced: no client can connect to this daemon any more."""
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            # Removed, perhaps with its folder.
            return False

    def _remove_socket_file(self) -> None:
        # A different inode means that the socket belongs to a newer daemon.
        if self.is_reachable():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)


def bind_daemon_socket(path: str) -> socket.socket:
    """Bind a private socket at this path; raise Conflict if another daemon answers there."""
    _remove_stale_socket(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        os.chmod(path, 0o600)
    except OSError as error:
        listener.close()
        raise Unavailable(f"cannot listen on {path}: {error.strerror}") from error
    return listener


def _remove_stale_socket(path: str) -> None:
    """Remove the socket file of a killed daemon, but never a socket that answers or another kind of file."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        # The usual case: the last daemon removed its socket.
        return
    if not stat.S_ISSOCK(mode):
        raise Unavailable(f"{path} is not a socket", hint="Move it away; Termvisor did not create it.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(path) == 0:
            raise StateConflict(f"another daemon answers on {path}", hint="Stop it with `visor daemon stop`.")
    os.unlink(path)


def compute_max_clients() -> int:
    """Return the connection limit: half of the file descriptors, which leaves the rest for panes and files."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CLIENTS if descriptors == resource.RLIM_INFINITY else min(MAX_CLIENTS, descriptors // 2)


class OverloadHandler:
    """Answers clients beyond the connection limit with an error in their own protocol.

    `hello`, `reload` and `shutdown` still work: too many clients must not keep the user from stopping the daemon.
    """

    def __init__(self, handler: RequestHandler, max_clients: int):
        self._handler, self._max_clients = handler, max_clients

    def get_hello(self) -> jsonrpc.DaemonHello:
        return self._handler.get_hello()

    async def run_command(
        self, request: command_protocol.CommandRequest, peer: PeerProcess
    ) -> AsyncGenerator[bytes, None]:
        raise self._build_overload_error()
        yield b""

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any:
        raise self._build_overload_error()

    async def call_tool(self, params: dict[str, Any], peer: PeerProcess) -> Any:
        raise self._build_overload_error()

    async def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]:
        raise self._build_overload_error()
        yield None

    async def reload(self) -> None:
        await self._handler.reload()

    def stop(self, *, keep_recorder: bool) -> None:
        self._handler.stop(keep_recorder=keep_recorder)

    def _build_overload_error(self) -> Unavailable:
        return Unavailable(
            f"more than {self._max_clients} clients are connected to the daemon",
            hint="Close some of them. `visor daemon restart` closes all connections; nothing is lost.",
        )
