"""Connect to the daemon's socket, read lines from it, and identify the process at the other end.

macOS branches are untested.

Imports nothing slow, because every command line passes through here.
"""

import os
import select
import sys
from _socket import AF_UNIX, SOCK_STREAM, socket

from termvisor.protocol.command_protocol import MAX_LINE_BYTES

PEER_CREDENTIALS_OPTION = (1, 17, 12) if sys.platform == "linux" else (0, 1, 76)
"""Arguments of getsockopt: SO_PEERCRED on Linux, LOCAL_PEERCRED on macOS. Both hold the uid in bytes 4 to 8."""


def connect_socket(path: str) -> "socket | None":
    """Return a connected socket; None if no process listens. Raises PermissionError if another user's does."""
    sock = socket(AF_UNIX, SOCK_STREAM)
    try:
        sock.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        # No daemon was ever started, or it was killed and left its socket file behind.
        sock.close()
        return None
    except OSError:
        sock.close()
        raise
    if parse_uid(sock.getsockopt(*PEER_CREDENTIALS_OPTION)) != os.getuid():
        sock.close()
        raise PermissionError(f"the process that listens on {path} belongs to another user")
    return sock


class PeerProcess:
    """The user and process of a client, and the interface that it declared.

    ``started`` tells the process from a later one with the same id; 0 if unknown.
    """

    __slots__ = ("face", "pid", "started", "uid")

    def __init__(self, uid: int, pid: int, started: int = 0):
        self.uid, self.pid, self.started, self.face = uid, pid, started, "python"


def read_peer(connection: "socket") -> PeerProcess:
    """Return the process that opened the connection, as the kernel reports it."""
    credentials = connection.getsockopt(*PEER_CREDENTIALS_OPTION)
    if sys.platform == "linux":
        return PeerProcess(parse_uid(credentials), parse_pid(credentials))
    # LOCAL_PEERPID: the credentials of macOS contain no process id.
    return PeerProcess(parse_uid(credentials), int.from_bytes(connection.getsockopt(0, 2, 4), sys.byteorder))


def parse_uid(credentials: bytes) -> int:
    """Return the user id of the peer."""
    return int.from_bytes(credentials[4:8], sys.byteorder)


def parse_pid(credentials: bytes) -> int:
    """Return the process id of the peer; 0 on macOS, whose credentials do not contain it."""
    return int.from_bytes(credentials[:4], sys.byteorder) if sys.platform == "linux" else 0


def is_peer_gone(descriptor: int) -> bool:
    """Return True if the peer closed both directions, not just its sending side."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll(0))


class LineTooLong(ValueError):
    """A line exceeded the limit; the rest of the stream is out of sync."""


class LineBuffer:
    """Assembles chunks into lines of limited size, in linear time no matter how a long line is split."""

    def __init__(self, limit: int = MAX_LINE_BYTES):
        self._limit, self._data, self._scanned = limit, bytearray(), 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines completed by this chunk, without newlines."""
        self._data += chunk
        end = self._data.rfind(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._data)
            self._check_size(self._scanned)
            return []
        whole, self._data = bytes(self._data[:end]), self._data[end + 1 :]
        self._scanned = len(self._data)
        lines = whole.split(b"\n")
        self._check_size(max(self._scanned, *map(len, lines)))
        return lines

    def get_rest(self) -> bytes:
        """Return the bytes after the last newline, for a peer that closes without sending one."""
        return bytes(self._data)

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            self._data.clear()
            raise LineTooLong(f"a line is longer than {self._limit} bytes")
