"""Hand the stream of a pane to the recorder: plan it for another process, or do it in this one."""

import _socket
import sys
from contextlib import closing

from termvisor.backends.capture_sink import StreamHandoff
from termvisor.errors import Unavailable
from termvisor.model.ids import EpochId, PaneId
from termvisor.recorder.sockets import connect_socket


def plan_handoff(socket: str, script: str, pane: PaneId, epoch: EpochId) -> StreamHandoff:
    """Return how a process passes a stream to the recorder that listens on this socket."""
    name = f"{pane}/{epoch}"
    return StreamHandoff((sys.executable, "-ISE", script, socket, name), socket, name)


def hold_stream(handoff: StreamHandoff, descriptor: int) -> None:
    """Pass a stream to the recorder, which reports it like any other. Raises Unavailable if it is not reached."""
    try:
        with closing(connect_socket(handoff.socket)) as connection:
            # Not waiting for the answer: the report of the stream arrives on the daemon's own connection.
            rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor.to_bytes(4, sys.byteorder))
            connection.sendmsg([f"hold {handoff.name}\n".encode()], [rights])
    except OSError as error:
        raise Unavailable(f"cannot pass a stream to the recorder: {error.strerror}") from error
