"""Connect to the daemon's socket, but only if the process behind it belongs to this user.

Imports nothing slow: every command line passes through here.
"""

import os
from _socket import AF_UNIX, SOCK_STREAM, socket

from termvisor.system import peer_credentials


def connect_socket(path: str) -> "socket | None":
    """Return a connected socket; None if no process listens. Raises PermissionError for another user's process."""
    sock = socket(AF_UNIX, SOCK_STREAM)
    try:
        sock.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        sock.close()
        return None
    except OSError:
        sock.close()
        raise
    if peer_credentials.parse_uid(sock.getsockopt(*peer_credentials.PEER_CREDENTIALS_OPTION)) != os.getuid():
        sock.close()
        raise PermissionError(f"the process that listens on {path} belongs to another user")
    return sock
