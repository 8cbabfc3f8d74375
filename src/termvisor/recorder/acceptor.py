"""Listen on the recorder's socket and keep connections until their first message.

No connection can block the recorder: one of another user is closed at once, a silent one after five seconds.
"""

import _socket
import fcntl
import posix
from time import monotonic

from termvisor.recorder.poller import Poller
from termvisor.recorder.seqpacket import SOCKET_KIND, SeqpacketChannel, connect_socket, get_peer_uid

_IDENTIFY_TIMEOUT_S = 5.0
_ACCEPTS_PER_TURN = 64


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
        """Remove a pending connection and return it; the caller owns it."""
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
        # Unlink before closing: a recorder that starts now must not bind a name that we remove afterwards.
        try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
            posix.unlink(path)
        except OSError:
            pass  # the folder was removed
        self.server_socket.close()

    def compute_timeout(self) -> float | None:
        """Return the seconds until the next pending connection expires, None if there is none."""
        return max(0.0, min(self._deadlines.values()) - monotonic()) + 0.01 if self._deadlines else None

    def _reject_one(self) -> None:
        """Accept and close one connection when out of descriptors: it would be reported as ready for ever."""
        posix.close(self._spare_fd)
        try:
            fd, _address = self.server_socket._accept()  # type: ignore[attr-defined]
            posix.close(fd)
        except OSError:
            pass
        self._spare_fd = posix.open("/dev/null", posix.O_RDONLY)


def open_server_socket(path: str) -> _socket.socket | None:
    """Listen at ``path``, replacing the socket of a dead recorder; return None if a live one listens there."""
    folder = posix.open(path.rpartition("/")[0], posix.O_RDONLY)
    try:
        # Serializes recorders that start at once; closing the descriptor releases the lock.
        fcntl.flock(folder, fcntl.LOCK_EX)
        return None if _is_recorder_listening(path) else _bind_server_socket(path)
    finally:
        posix.close(folder)


def _is_recorder_listening(path: str) -> bool:
    try:
        connect_socket(path).close()
    except FileNotFoundError:
        return False
    except ConnectionRefusedError:
        posix.unlink(path)
        return False
    except BlockingIOError:
        pass  # its accept queue is full
    return True


def _bind_server_socket(path: str) -> _socket.socket:
    server = _socket.socket(_socket.AF_UNIX, SOCKET_KIND)
    server.bind(path)
    posix.chmod(path, 0o600)
    server.listen(1024)
    return server
