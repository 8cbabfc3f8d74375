"""Find out when a process started, and get notified when it exits.

The pid and start time together identify a process, although pids are reused. Exits are reported by a pidfd on Linux and
kqueue on macOS (untested). If the kernel provides no such handle, `watch_process` returns False and the caller must
poll.
"""

import asyncio
import contextlib
import os
import select
import sys
from collections.abc import Callable

from termvisor.clock import NS
from termvisor.system import procfs

ProcessKey = tuple[int, int]
"""Pid and start time."""


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
    """Calls ``on_exit`` once for every watched process that exits, on the event loop. Close it before the loop."""

    def __init__(self, on_exit: Callable[[int, int], None]):
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
            self._loop.call_soon(self._on_exit, pid, started)
            return True
        except (OSError, AttributeError):  # no descriptor left, or a kernel without pidfd
            return False
        # Checked after opening: only then is it certain that the handle belongs to this process, not to a reused pid.
        process = procfs.read_process(pid)
        if process is None or process.started != started:
            os.close(handle)
            self._loop.call_soon(self._on_exit, pid, started)
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

    def _process_exit(self, process_key: ProcessKey) -> None:
        self.unwatch_process(*process_key)
        self._on_exit(*process_key)


def _open_exit_descriptor(pid: int) -> int:
    """Return a descriptor that becomes readable when the process exits. Raises ProcessLookupError if it has exited."""
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    queue = select.kqueue()
    with contextlib.closing(queue):
        queue.control([select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)], 0)
        return os.dup(queue.fileno())
