"""Ensure a single daemon per instance, install signal handlers, and find or stop an orphaned recorder.

Invariant: only one process is inside `hold_daemon_lock` for the same runtime folder, and one for the same data folder.
"""

import asyncio
import contextlib
import resource
import signal
from _socket import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from termvisor.clock import Clock
from termvisor.protocol import unix_socket
from termvisor.protocol.unix_socket import connect_socket
from termvisor.recorder import sockets
from termvisor.recorder.startup import PROTOCOL_VERSION
from termvisor.settings import Paths
from termvisor.system.instance_lock import acquire_instance_lock, build_conflict, find_other_runtime_folder


@asynccontextmanager
async def hold_daemon_lock(paths: Paths, clock: Clock, timeout_s: float = 8.0) -> AsyncIterator[None]:
    """Hold the locks of the instance; wait up to ``timeout_s`` for a daemon that is stopping.

    Raises StateConflict if a daemon answers on its socket, or a lock is still held after the timeout.
    """
    deadline = clock.monotonic() + timeout_s
    # Wait, because a restart starts the new daemon while the old one is still storing its last output.
    while (lock := acquire_instance_lock(paths)) is None:
        holder = replace(paths, runtime_dir=find_other_runtime_folder(paths) or paths.runtime_dir)
        if _is_socket_answering(holder.daemon_socket) or clock.monotonic() > deadline:
            raise build_conflict(paths, hint="`visor daemon restart` replaces it.")
        await clock.sleep(0.02)
    try:
        yield
    finally:
        lock.release()


def _is_socket_answering(path: str) -> bool:
    if (connection := connect_socket(path)) is None:
        return False
    connection.close()
    return True


def raise_descriptor_limit() -> None:
    """Raise the soft limit on open files to the hard limit, because each captured pane needs two descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # macOS rejects "unlimited"
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def install_stop_handler(stop: Callable[[], None]) -> None:
    """Call ``stop`` on SIGTERM and SIGINT; ignore SIGHUP, so that closing the terminal does not stop the daemon."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    # A reload handler replaces this once there is something to reload.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def install_reload_handler(reload: Callable[[], object]) -> None:
    """Call ``reload`` on SIGHUP (also sent by a closing terminal; a needless reload is harmless)."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


def find_recorder_pid(paths: Paths) -> int | None:
    """Return the pid of the running recorder, None if there is none, 0 if the system does not report peer pids."""
    if (connection := _connect_recorder(paths)) is None:
        return None
    credentials = connection.getsockopt(*unix_socket.PEER_CREDENTIALS_OPTION)
    connection.close()
    return unix_socket.parse_pid(credentials)


def stop_recorder(paths: Paths, timeout_s: float = 5.0) -> None:
    """Stop the recorder left by a killed daemon; it closes its files first. Call only if no daemon is running."""
    if (connection := _connect_recorder(paths)) is None:
        return
    connection.settimeout(timeout_s)
    # The recorder may exit or close the connection at any moment, which is the purpose of the call.
    with suppress(OSError):
        connection.send(b"listen %d\n" % PROTOCOL_VERSION)
        connection.send(b"quit\n")
        while connection.recv(1 << 16):  # until it exits and closes the connection
            continue
    connection.close()


def _connect_recorder(paths: Paths) -> socket | None:
    try:
        return sockets.connect_socket(paths.recorder_socket)
    # No socket, or a stale one left by a killed recorder: there is no recorder to connect to.
    except (FileNotFoundError, ConnectionRefusedError):
        return None
