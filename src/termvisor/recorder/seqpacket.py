"""Send and receive short text lines and file descriptors on the recorder's socket.

Linux preserves message boundaries (SOCK_SEQPACKET). macOS has no such local sockets: there lines are split from a
SOCK_STREAM (untested). Only this file and send_fd.py, which imports nothing of ours, know the difference.
"""

import _socket
import posix
import sys

MAX_MESSAGE_BYTES = 8192
if sys.platform == "linux":
    SOCKET_KIND = _socket.SOCK_SEQPACKET
    _CLOSE_ON_EXEC = _socket.MSG_CMSG_CLOEXEC
else:
    SOCKET_KIND = _socket.SOCK_STREAM
    _CLOSE_ON_EXEC = 0


class SeqpacketChannel:
    """One end of a connection; never blocks."""

    def __init__(self, connection: _socket.socket):
        connection.setblocking(False)
        self._connection = connection
        self._partial = b""
        self._unsent = b""

    def fileno(self) -> int:
        return self._connection.fileno()

    def receive(self) -> tuple[list[bytes], list[int]]:
        """Return the lines and descriptors of one message.

        Raises EOFError if the peer is gone and BlockingIOError if nothing arrived.
        """
        try:
            data, controls, _, _ = self._connection.recvmsg(MAX_MESSAGE_BYTES, _socket.CMSG_SPACE(4), _CLOSE_ON_EXEC)
        except BlockingIOError:
            raise
        except OSError as error:
            raise EOFError from error
        fds = _parse_descriptors(controls)
        if not data:
            close_descriptors(fds)
            raise EOFError
        return self._split_lines(data), fds

    def send(self, message: bytes) -> bool:
        """Send a message; return False if the socket is full: retry when it is writable.

        Raises OSError if the peer is gone.
        """
        try:
            if self._unsent:
                self._unsent = self._unsent[self._connection.send(self._unsent) :]
            if self._unsent:
                return False
            self._unsent = message[self._connection.send(message) :]
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._connection.close()

    def _split_lines(self, data: bytes) -> list[bytes]:
        if sys.platform == "linux":
            return data.strip(b"\n").split(b"\n")
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._partial = self._partial[:MAX_MESSAGE_BYTES]
        return lines


def get_peer_uid(connection: _socket.socket) -> int:
    """Return the user id of the peer process, -1 if it is unknown."""
    try:
        if sys.platform == "linux":
            credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        else:
            credentials = connection.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: struct xucred
    except OSError:
        return -1
    return int.from_bytes(credentials[4:8], sys.byteorder)


def connect_socket(path: str) -> _socket.socket:
    """Connect without blocking. Raises FileNotFoundError or ConnectionRefusedError if no process listens."""
    connection = _socket.socket(_socket.AF_UNIX, SOCKET_KIND)
    try:
        connection.setblocking(False)
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def close_descriptors(fds: list[int]) -> None:
    for fd in fds:
        posix.close(fd)


def _parse_descriptors(controls: list[tuple[int, int, bytes]]) -> list[int]:
    fds = []
    for level, kind, data in controls:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            fds += [int.from_bytes(data[n : n + 4], sys.byteorder) for n in range(0, len(data) - 3, 4)]
    if not _CLOSE_ON_EXEC:
        for fd in fds:
            posix.set_inheritable(fd, False)
    return fds
