"""Sockets of the recorder: messages with descriptors, the listening socket, and polling of many descriptors.

Linux preserves message boundaries (SOCK_SEQPACKET). macOS has no such local sockets, so lines are split from a
SOCK_STREAM there (untested). Only this file and send_fd.py, which imports nothing of ours, handle the difference.
No connection can block the recorder: another user's is closed at once, a silent one after five seconds.
"""

import _socket
import fcntl
import posix
import select
import sys
from time import monotonic

MAX_MESSAGE_BYTES = 8192
if sys.platform == "linux":
    SOCKET_KIND = _socket.SOCK_SEQPACKET
    _CLOSE_ON_EXEC = _socket.MSG_CMSG_CLOEXEC
else:
    SOCKET_KIND = _socket.SOCK_STREAM
    _CLOSE_ON_EXEC = 0
_IDENTIFY_TIMEOUT_S = 5.0
_ACCEPTS_PER_TURN = 64
# POLLIN and POLLOUT have the same values for epoll and poll.
_POLL_READ, _POLL_WRITE = 1, 4


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
            # For callers a reset is the same as an orderly end: the peer is gone.
            raise EOFError from error
        fds = _parse_descriptors(controls)
        if not data:
            close_descriptors(fds)
            raise EOFError
        return self._split_lines(data), fds

    def send(self, message: bytes) -> bool:
        """Send a message. Return False if the socket is full; retry when it is writable.

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
    """Return the user id of the peer process, or -1 if it is unknown."""
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


class Poller:
    def __init__(self) -> None:
        if sys.platform == "linux":
            self._poll = select.epoll()
        else:
            self._poll = select.poll()

    def add(self, fd: int) -> None:
        """Watch a descriptor for input. Raises OSError if it cannot be polled, for example a regular file."""
        self._poll.register(fd, _POLL_READ)

    def set_write_interest(self, fd: int, is_wanted: bool) -> None:
        self._poll.modify(fd, _POLL_READ | _POLL_WRITE if is_wanted else _POLL_READ)

    def remove(self, fd: int) -> None:
        """Stop watching a descriptor. Call before closing it: a duplicate open elsewhere would be reported forever."""
        self._poll.unregister(fd)

    def wait(self, seconds: float | None) -> list[int]:
        """Return the descriptors that are ready, waiting up to ``seconds`` or, if None, without limit."""
        unit = 1 if sys.platform == "linux" else 1000
        return [fd for fd, _ in self._poll.poll(None if seconds is None else seconds * unit)]


class ConnectionAcceptor:
    def __init__(self, server_socket: _socket.socket, poller: Poller):
        self.server_socket = server_socket
        self._poller = poller
        self.pending: dict[int, SeqpacketChannel] = {}
        self._deadlines: dict[int, float] = {}
        self._spare_fd = posix.open("/dev/null", posix.O_RDONLY)
        server_socket.setblocking(False)
        poller.add(server_socket.fileno())

    def accept_connections(self) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            try:
                fd, _address = self.server_socket._accept()  # type: ignore[attr-defined]
            except BlockingIOError:
                return
            except OSError:
                # Out of descriptors: the connection would stay in the queue and be reported as ready forever.
                self._reject_one()
                return
            self.add_connection(_socket.socket(fileno=fd))

    def add_connection(self, connection: _socket.socket) -> None:
        if get_peer_uid(connection) != posix.getuid():
            connection.close()
            return
        channel = SeqpacketChannel(connection)
        self._poller.add(channel.fileno())
        self.pending[channel.fileno()] = channel
        self._deadlines[channel.fileno()] = monotonic() + _IDENTIFY_TIMEOUT_S

    def release_connection(self, fd: int) -> SeqpacketChannel:
        """Remove a pending connection and return it. The caller then owns it."""
        del self._deadlines[fd]
        return self.pending.pop(fd)

    def close_connection(self, fd: int) -> None:
        self._poller.remove(fd)
        self.release_connection(fd).close()

    def close_expired(self) -> None:
        if self._deadlines:
            now = monotonic()
            for fd in [fd for fd, deadline in self._deadlines.items() if deadline <= now]:
                self.close_connection(fd)

    def close(self, path: str) -> None:
        # Unlink before closing, so as not to remove the socket of a recorder that starts right afterwards.
        try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
            posix.unlink(path)
        except OSError:
            pass  # the folder was removed
        self.server_socket.close()

    def compute_timeout(self) -> float | None:
        """Return the seconds until the next pending connection expires, or None if there is none."""
        return max(0.0, min(self._deadlines.values()) - monotonic()) + 0.01 if self._deadlines else None

    def _reject_one(self) -> None:
        """Accept and close one connection, using a descriptor reserved for this."""
        posix.close(self._spare_fd)
        try:
            fd, _address = self.server_socket._accept()  # type: ignore[attr-defined]
            posix.close(fd)
        except OSError:
            # No descriptor is free yet, or the client hung up. The next turn tries again.
            pass
        self._spare_fd = posix.open("/dev/null", posix.O_RDONLY)


def open_server_socket(path: str) -> _socket.socket | None:
    """Listen at ``path``, replacing the socket of a dead recorder; return None if a live one listens there."""
    folder = posix.open(path.rpartition("/")[0], posix.O_RDONLY)
    try:
        # Serializes recorders that start at the same time. Closing the descriptor releases the lock.
        fcntl.flock(folder, fcntl.LOCK_EX)
        if is_recorder_listening(path):
            return None
        try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
            posix.unlink(path)
        except FileNotFoundError:
            pass
        server = _socket.socket(_socket.AF_UNIX, SOCKET_KIND)
        server.bind(path)
        posix.chmod(path, 0o600)
        server.listen(1024)
        return server
    finally:
        posix.close(folder)


def is_recorder_listening(path: str) -> bool:
    try:
        connect_socket(path).close()
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except BlockingIOError:
        # Its accept queue is full, so it is alive.
        pass
    return True
