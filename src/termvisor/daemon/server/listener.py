"""The daemon's Unix socket: private, bound by one daemon at a time, gone when the daemon is.

A socket file that nobody answers on is left over from a daemon that was killed: it is removed and bound again.
"""

import asyncio
import contextlib
import os
import socket
import stat

from termvisor.daemon.server.connection import Connection, Limits
from termvisor.daemon.server.overload import CrowdedDesk, most_clients
from termvisor.daemon.server.request import Desk
from termvisor.errors import Conflict, Unavailable

_BACKLOG = 1024
_TOLD_WITHIN = 2.0
"""Seconds that a client too many has for its question; then it is let go."""


class Endpoint:
    def __init__(self, desk: Desk, group: asyncio.TaskGroup, limits: Limits | None = None):
        self._desk, self._group, self._limits = desk, group, limits or Limits(clients=most_clients())
        self._connections: set[Connection] = set()

    async def open(self, listener: socket.socket) -> None:
        """Take clients on a socket from `bind`."""
        self._path = listener.getsockname()
        self._inode = os.stat(self._path).st_ino
        self._server = await asyncio.get_running_loop().create_unix_server(
            self._connect, sock=listener, backlog=_BACKLOG
        )

    async def close(self, drain_for: float = 2.0) -> None:
        """Take nobody new, let running requests finish for a while, then end the rest."""
        self._remove()
        self._server.close()
        for connection in self._connections:
            connection.cancel(streams_only=True)
        if running := {task for connection in self._connections for task in connection.running}:
            await asyncio.wait(running, timeout=drain_for)
        for connection in list(self._connections):
            connection.cancel()
            connection.close()

    def _connect(self) -> Connection:
        is_crowded = len(self._connections) >= self._limits.clients
        desk = CrowdedDesk(self._desk, self._limits.clients) if is_crowded else self._desk
        connection = Connection(desk, self._group, self._limits, self._connections.discard)
        self._connections.add(connection)
        if is_crowded:
            asyncio.get_running_loop().call_later(_TOLD_WITHIN, connection.close)
        return connection

    def _remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if os.stat(self._path).st_ino == self._inode:
                os.unlink(self._path)


def bind(path: str) -> socket.socket:
    """A private socket at this path. ``Conflict`` when another daemon answers there."""
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        os.chmod(path, 0o600)
    except OSError as error:
        listener.close()
        raise Unavailable(f"cannot listen on {path}: {error.strerror}") from error
    return listener


def _clear(path: str) -> None:
    """Remove what a killed daemon left; never a living socket, never a file of another kind."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise Unavailable(f"{path} is not a socket", hint="Move it away; Termvisor did not make it.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(path) == 0:
            raise Conflict(f"another daemon answers on {path}", hint="Stop it with `visor daemon stop`.")
    os.unlink(path)
