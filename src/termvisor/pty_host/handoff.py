"""Pass a duplicate of a master to the recorder, with the message that tmux's pipe helper sends (send_fd.py).

Never blocks: the recorder may be stopped, or its accept queue full. The poller reports the answer.
"""

from __future__ import annotations

import _socket
import sys
from time import monotonic

from termvisor.recorder.sockets import SeqpacketChannel, connect_socket

HANDOFF_TIMEOUT_S = 5.0


class RecorderHandoff:
    """A `hold` message without an answer yet; ``requester`` is the descriptor and request id of its client."""

    def __init__(self, recorder_socket: str, number: int, master: int, stream: str, requester: tuple[int, str]):
        """Raise OSError if no recorder listens, or it is too busy to accept."""
        self.number, self.stream, self.requester = number, stream, requester
        self.deadline = monotonic() + HANDOFF_TIMEOUT_S
        connection = connect_socket(recorder_socket)
        try:
            rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, master.to_bytes(4, sys.byteorder))]
            connection.sendmsg([b"hold " + stream.encode("ascii") + b"\n"], rights)
        except OSError:
            connection.close()
            raise
        self._channel = SeqpacketChannel(connection)

    def fileno(self) -> int:
        return self._channel.fileno()

    def read_answer(self) -> str:
        """Return `ok`, or the reason of the refusal. Raises BlockingIOError if there is none yet."""
        try:
            lines, _ = self._channel.receive()
        except EOFError:
            return "gone"
        words = lines[0].decode("ascii", "replace").split()
        return "ok" if words[:1] == ["ok"] else (words[1:] or ["unknown"])[0]

    def close(self) -> None:
        self._channel.close()
