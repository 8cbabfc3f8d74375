"""Where the recorder is reached: its listening socket, and the connections that have not yet said what they want.

Nobody who connects can hold us up: a stranger is sent away, and who says nothing is sent away after five seconds.
"""

import _socket
import fcntl
import posix
from time import monotonic

from termvisor.recorder.poller import Poller
from termvisor.recorder.seqpacket import KIND, Channel, connect, peer_uid

_PATIENCE = 5.0
_ACCEPTS_A_TURN = 64


class Reception:
    def __init__(self, server: _socket.socket, poller: Poller):
        self.server = server
        self._poller = poller
        self.waiting: dict[int, Channel] = {}
        self._deadlines: dict[int, float] = {}
        self._spare = posix.open("/dev/null", posix.O_RDONLY)
        server.setblocking(False)
        poller.add(server.fileno())

    def accept(self) -> None:
        for _ in range(_ACCEPTS_A_TURN):
            try:
                fd, _address = self.server._accept()  # type: ignore[attr-defined]
            except BlockingIOError:
                return
            except OSError:
                self._turn_one_away()
                return
            self.admit(_socket.socket(fileno=fd))

    def admit(self, connection: _socket.socket) -> None:
        if peer_uid(connection) != posix.getuid():
            connection.close()
            return
        channel = Channel(connection)
        self._poller.add(channel.fileno())
        self.waiting[channel.fileno()] = channel
        self._deadlines[channel.fileno()] = monotonic() + _PATIENCE

    def release(self, fd: int) -> Channel:
        """The connection said what it wants: it is the caller's now."""
        del self._deadlines[fd]
        return self.waiting.pop(fd)

    def dismiss(self, fd: int) -> None:
        self._poller.remove(fd)
        self.release(fd).close()

    def expire(self) -> None:
        if self._deadlines:
            now = monotonic()
            for fd in [fd for fd, deadline in self._deadlines.items() if deadline <= now]:
                self.dismiss(fd)

    def close(self, path: str) -> None:
        # First the name, then the socket: who starts now must not find a name that we remove a moment later.
        try:  # noqa: SIM105 - contextlib alone would cost this process half a megabyte
            posix.unlink(path)
        except OSError:
            pass  # the folder was removed
        self.server.close()

    def patience(self) -> float | None:
        """How long the recorder may sleep."""
        return max(0.0, min(self._deadlines.values()) - monotonic()) + 0.01 if self._deadlines else None

    def _turn_one_away(self) -> None:
        """Out of descriptors: without this the same connection would be announced again and again."""
        posix.close(self._spare)
        try:
            fd, _address = self.server._accept()  # type: ignore[attr-defined]
            posix.close(fd)
        except OSError:
            pass
        self._spare = posix.open("/dev/null", posix.O_RDONLY)


def open_server(path: str) -> _socket.socket | None:
    """Listen at ``path``; None when a living recorder does already. A socket file that a dead one left is replaced."""
    folder = posix.open(path.rpartition("/")[0], posix.O_RDONLY)
    try:
        # Two that start at once look one after the other; the lock goes with the descriptor.
        fcntl.flock(folder, fcntl.LOCK_EX)
        return None if _is_answered(path) else _listen(path)
    finally:
        posix.close(folder)


def _is_answered(path: str) -> bool:
    try:
        connect(path).close()
    except FileNotFoundError:
        return False
    except ConnectionRefusedError:
        posix.unlink(path)
        return False
    except BlockingIOError:
        pass  # its queue is full
    return True


def _listen(path: str) -> _socket.socket:
    server = _socket.socket(_socket.AF_UNIX, KIND)
    server.bind(path)
    posix.chmod(path, 0o600)
    server.listen(1024)
    return server
