"""Pass standard input (the pipe of a pane) to the recorder and exit. Run by tmux's pipe-pane.

This script imports no other module of ours and prints nothing. A missing socket or a stopped recorder costs a few
seconds here, but nothing appears in the pane.
"""

import _socket
import sys

STDIN_FD = 0
# The daemon waits a second longer before it gives up on the pipe.
_TIMEOUT_S = 5.0


def main() -> int:
    path, name = sys.argv[1:]
    kind = _socket.SOCK_SEQPACKET if sys.platform == "linux" else _socket.SOCK_STREAM
    connection = _socket.socket(_socket.AF_UNIX, kind)
    connection.settimeout(_TIMEOUT_S)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, STDIN_FD.to_bytes(4, sys.byteorder))]
    try:
        connection.connect(path)
        connection.sendmsg([b"hold " + name.encode() + b"\n"], rights)
        return 0 if connection.recv(256).startswith(b"ok") else 1
    except OSError:
        # The daemon sees that the stream was not opened and tries again.
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
