"""Find the TCP ports on which a process listens (from /proc), to prove that a server belongs to the process.

Linux only; no ports are found on other systems, or for a process in another network namespace.
"""

import os
import sys
from collections.abc import Iterator

from termvisor.system import procfs

_LISTEN_STATE = "0A"
# 127.0.0.1 in both byte orders, and the wildcard address.
_LOCAL_ADDRESSES = frozenset({"0100007F", "7F000001", "00000000"})
_MAX_FILES = 4096


def find_listening_ports(pid: int, started: int) -> tuple[int, ...]:
    """Return the ports in order; empty if there are none, the process is another user's, or its pid was reused.

    Ports on which another process listens as well are left out.
    """
    if sys.platform != "linux" or not _is_in_own_network_namespace(pid):
        return ()
    inodes, rows = frozenset(_list_socket_inodes(pid)), list(_list_listening_ports(f"/proc/{pid}/net/tcp"))
    shared_ports = {port for port, inode in rows if inode not in inodes}
    # Checked last, because the pid may have been reused while its files were read.
    process = procfs.read_process(pid)
    is_same = process is not None and process.started == started
    return tuple(sorted({port for port, _ in rows} - shared_ports)) if is_same else ()


def _is_in_own_network_namespace(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net")
    except OSError:
        # The process has exited, or belongs to another user.
        return False


def _list_socket_inodes(pid: int) -> Iterator[str]:
    """Yield the inodes of the process's open sockets."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names[:_MAX_FILES]:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            # The descriptor was closed after it was listed.
            continue
        if target.startswith("socket:["):
            yield target[8:-1]


def _list_listening_ports(path: str) -> Iterator[tuple[int, str]]:
    """Yield the ports that accept connections to 127.0.0.1, with the inode of the socket."""
    try:
        with open(path, encoding="ascii", errors="replace") as table:
            rows = table.readlines()[1:]
    except OSError:
        return
    for row in rows:
        fields = row.split()
        address, _, port = fields[1].partition(":") if len(fields) > 9 else ("", "", "")
        if address in _LOCAL_ADDRESSES and fields[3] == _LISTEN_STATE:
            yield int(port, 16), fields[9]
