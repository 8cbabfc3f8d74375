"""The daemon's own life: one instance per user, the wish to end, and the recorder that a killed one leaves behind.

Invariant: while `hold` is entered, no other daemon of these places comes past its own `hold`.
"""

import asyncio
import contextlib
import os
import resource
import signal
from _socket import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from termvisor.clock import Clock
from termvisor.errors import Conflict
from termvisor.protocol.connect import connect_socket
from termvisor.recorder import seqpacket
from termvisor.recorder.options import PROTOCOL_VERSION
from termvisor.settings import Paths
from termvisor.system import lock_file, peer_credentials


@asynccontextmanager
async def hold_daemon_lock(paths: Paths, clock: Clock, timeout_s: float = 8.0) -> AsyncIterator[None]:
    """Be the one daemon. A predecessor that is just stopping has ``patience`` seconds to finish."""
    until = clock.monotonic() + timeout_s
    while (descriptor := lock_file.acquire_lock(paths.daemon_lock)) is None:
        if _is_socket_answering(paths.daemon_socket) or clock.monotonic() > until:
            pid = lock_file.read_lock_holder(paths.daemon_lock)
            raise Conflict(f"a daemon runs already (pid {pid})", hint="`visor daemon restart` replaces it.")
        await clock.sleep(0.02)
    try:
        yield
    finally:
        os.close(descriptor)


def _is_socket_answering(path: str) -> bool:
    if (line := connect_socket(path)) is None:
        return False
    line.close()
    return True


def raise_descriptor_limit() -> None:
    """Every pane that is being read costs two descriptors; the usual soft limit of 1024 ends at a few hundred panes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # macOS refuses "unlimited"
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def install_stop_handler(stop: Callable[[], None]) -> None:
    """SIGTERM and Ctrl-C ask for the orderly stop; a closing terminal is nothing to us."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def install_reload_handler(reload: Callable[[], object]) -> None:
    """SIGHUP asks to read the settings again; that of a closing terminal does so too, and no harm."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


def find_recorder_pid(paths: Paths) -> int | None:
    """The recorder that is running, with or without a daemon; 0 where the system does not tell its pid."""
    if (line := _connect_recorder(paths)) is None:
        return None
    credentials = line.getsockopt(*peer_credentials.PEER_CREDENTIALS_OPTION)
    line.close()
    return peer_credentials.parse_pid(credentials)


def stop_recorder(paths: Paths, timeout_s: float = 5.0) -> None:
    """End a recorder that a killed daemon left: it closes its files first. Call only when no daemon runs."""
    if (line := _connect_recorder(paths)) is None:
        return
    line.settimeout(timeout_s)
    with suppress(OSError):
        line.send(b"listen %d\n" % PROTOCOL_VERSION)
        line.send(b"quit\n")
        while line.recv(1 << 16):
            continue
    line.close()


def _connect_recorder(paths: Paths) -> socket | None:
    try:
        return seqpacket.connect_socket(paths.recorder_socket)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
