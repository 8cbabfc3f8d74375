"""At which TCP ports of this machine a process listens, as the kernel tells: proof of whose a server is.

Linux only; elsewhere no port is proven. A process that lives in a network of its own listens nowhere here.
"""

import os
import sys
from collections.abc import Iterator

from termvisor.system import procfs

_LISTEN_STATE = "0A"
_LOCAL_ADDRESSES = frozenset({"0100007F", "7F000001", "00000000"})
"""127.0.0.1 as machines of either kind write it, and every address."""
_MAX_FILES = 4096


def find_listening_ports(pid: int, started: int) -> tuple[int, ...]:
    """In order; none where it listens nowhere, or is not ours to see, or is another process by now.

    A port at which somebody else listens, too, is nobody's.
    """
    if sys.platform != "linux" or not _is_in_own_network_namespace(pid):
        return ()
    own, rows = frozenset(_list_socket_inodes(pid)), list(_list_listening_ports(f"/proc/{pid}/net/tcp"))
    strange = {port for port, inode in rows if inode not in own}
    entry = procfs.read_process(pid)
    is_same = entry is not None and entry.started == started
    return tuple(sorted({port for port, _ in rows} - strange)) if is_same else ()


def _is_in_own_network_namespace(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net")
    except OSError:
        return False


def _list_socket_inodes(pid: int) -> Iterator[str]:
    """The inodes of the sockets that it holds."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names[:_MAX_FILES]:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:  # closed while we look
            continue
        if target.startswith("socket:["):
            yield target[8:-1]


def _list_listening_ports(path: str) -> Iterator[tuple[int, str]]:
    """Ports at which who calls 127.0.0.1 is taken, each with the inode of its socket."""
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
