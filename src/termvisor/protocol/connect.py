"""Connect to the daemon's socket, and only to a daemon of this user.

Imports nothing that costs time: the fast path of the command line comes through here.
"""

import os
from _socket import AF_UNIX, SOCK_STREAM, socket

from termvisor.system import peer_credentials


def connect_socket(path: str) -> "socket | None":
    """A connected socket, or None when nobody listens. ``PermissionError`` when somebody else does."""
    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        line.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        line.close()
        return None
    except OSError:
        line.close()
        raise
    if peer_credentials.parse_uid(line.getsockopt(*peer_credentials.PEER_CREDENTIALS_OPTION)) != os.getuid():
        line.close()
        raise PermissionError(f"the process that listens on {path} belongs to another user")
    return line
