"""Who is at the other end of a Unix socket. The macOS branches are untested."""

import select
import sys

PEER_CREDENTIALS_OPTION = (1, 17, 12) if sys.platform == "linux" else (0, 1, 76)
"""Arguments for getsockopt: SO_PEERCRED on Linux, LOCAL_PEERCRED on macOS. Both hold the uid in bytes 4 to 8."""


class PeerProcess:
    """One caller: its user and its process."""

    __slots__ = ("pid", "uid")

    def __init__(self, uid: int, pid: int):
        self.uid, self.pid = uid, pid


def parse_peer(credentials: bytes) -> PeerProcess:
    """Who it is, from what getsockopt(*OPTION) gave."""
    return PeerProcess(parse_uid(credentials), parse_pid(credentials))


def parse_uid(credentials: bytes) -> int:
    """The user of the peer, from what getsockopt(*OPTION) gave."""
    return int.from_bytes(credentials[4:8], sys.byteorder)


def parse_pid(credentials: bytes) -> int:
    """The process of the peer; 0 on macOS, whose answer does not hold it."""
    return int.from_bytes(credentials[:4], sys.byteorder) if sys.platform == "linux" else 0


def is_peer_gone(descriptor: int) -> bool:
    """True when the peer closed both directions, not just its sending one."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(found & (select.POLLHUP | select.POLLERR) for _, found in poll.poll(0))
