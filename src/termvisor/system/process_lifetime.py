"""Find out when a process started, and get notified when and how it exits.

The pid and start time together identify a process, although pids are reused. Exits are reported by a pidfd on Linux and
kqueue on macOS (untested). If the kernel provides no such handle, `watch_process` returns False and the caller must
poll.
"""

import asyncio
import contextlib
import fcntl
import os
import select
import struct
import sys
from collections.abc import Callable

from termvisor.clock import NS
from termvisor.system import procfs

ProcessKey = tuple[int, int]
"""Pid and start time."""
# PIDFD_GET_INFO with its first version of 64 bytes, and the flag of its exit status (Linux 6.15).
_GET_INFO, _INFO_BYTES, _INFO_EXIT, _EXIT_OFFSET = 0xC040FF0B, 64, 1 << 3, 60


def compute_start_instant(started: int, now: int) -> int:
    """Convert a kernel start time to nanoseconds since 1970, at most ``now``."""
    if sys.platform != "linux":
        return min(now, started * NS)
    try:
        with open("/proc/uptime", "rb") as file:
            uptime_s = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):  # a container may hide /proc/uptime
        return now
    return min(now, now - int((uptime_s - started / procfs.TICKS_PER_SECOND) * NS))


class ProcessExitWatcher:
    """Calls ``on_exit`` once for every watched process that exits, on the event loop. Close it before the loop.

    Its arguments are the pid, the start time and the exit code, or None if that is unknown.
    """

    def __init__(self, on_exit: Callable[[int, int, int | None], None]):
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._handles: dict[ProcessKey, int] = {}

    def watch_process(self, pid: int, started: int) -> bool:
        """Watch a process; return False if that is not possible. A process that has already exited is reported soon."""
        process_key = (pid, started)
        if process_key in self._handles:
            return True
        try:
            handle = _open_exit_descriptor(pid)
        except ProcessLookupError:
            self._loop.call_soon(self._on_exit, pid, started, None)
            return True
        except (OSError, AttributeError):  # no descriptor left, or a kernel without pidfd
            return False
        # Checked after opening: only then is it certain that the handle belongs to this process, not to a reused pid.
        process = procfs.read_process(pid)
        if process is None or process.started != started:
            os.close(handle)
            self._loop.call_soon(self._on_exit, pid, started, None)
            return True
        self._handles[process_key] = handle
        self._loop.add_reader(handle, self._process_exit, process_key)
        return True

    def unwatch_process(self, pid: int, started: int) -> None:
        """Stop watching a process. Does nothing if it is not watched."""
        handle = self._handles.pop((pid, started), None)
        if handle is not None:
            self._loop.remove_reader(handle)
            os.close(handle)

    def close(self) -> None:
        for process_key in list(self._handles):
            self.unwatch_process(*process_key)

    def read_exit_code(self, pid: int, started: int) -> int | None:
        """Return the exit code of a watched process; None if it is unknown or the process still runs."""
        handle = self._handles.get((pid, started))
        return None if handle is None or sys.platform != "linux" else _read_exit_code(handle, pid)

    def _process_exit(self, process_key: ProcessKey) -> None:
        exit_code = self.read_exit_code(*process_key)
        self.unwatch_process(*process_key)
        self._on_exit(*process_key, exit_code)


def _read_exit_code(pidfd: int, pid: int) -> int | None:
    """Return the exit code as shells report it, 128 + n for signal n.

    Its parent reaps the process at about the same time: before that, /proc has the status, and after it the pidfd, if
    the kernel is not older than 6.15.
    """
    status = _read_zombie_status(pid)
    if status is None:
        status = _read_pidfd_status(pidfd)
    if status is None:
        return None
    return 128 + (status & 0x7F) if status & 0x7F else status >> 8


def _read_pidfd_status(pidfd: int) -> int | None:
    info = bytearray(_INFO_BYTES)
    struct.pack_into("Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _GET_INFO, info)
    except OSError:  # an older kernel
        return None
    (mask,) = struct.unpack_from("Q", info, 0)
    return int(struct.unpack_from("i", info, _EXIT_OFFSET)[0]) if mask & _INFO_EXIT else None


def _read_zombie_status(pid: int) -> int | None:
    fields = procfs.read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[-1]) if fields[:1] == [b"Z"] else None


def _open_exit_descriptor(pid: int) -> int:
    """Return a descriptor that becomes readable when the process exits. Raises ProcessLookupError if it has exited."""
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    queue = select.kqueue()
    with contextlib.closing(queue):
        queue.control([select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)], 0)
        return os.dup(queue.fileno())
