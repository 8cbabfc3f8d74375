"""The end of a process, told the moment it comes: a pidfd on Linux; on macOS (untested) kqueue.

Where the kernel gives no such handle, `watch` says so, and the end is seen by the next look at the processes.
"""

import asyncio
import contextlib
import os
import select
import sys
from collections.abc import Callable

from termvisor.system import procfs

ProcessKey = tuple[int, int]
"""A pid and its start."""


class ProcessExitWatcher:
    """Tells each end once, on the event loop. Close it before the loop."""

    def __init__(self, on_exit: Callable[[int, int], None]):
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._handles: dict[ProcessKey, int] = {}

    def watch_process(self, pid: int, started: int) -> bool:
        """False where its end cannot be heard. One that is gone already is told soon."""
        life = (pid, started)
        if life in self._handles:
            return True
        try:
            handle = _open_exit_descriptor(pid)
        except ProcessLookupError:
            self._loop.call_soon(self._on_exit, pid, started)
            return True
        except (OSError, AttributeError):
            return False
        found = procfs.read_process(pid)
        if found is None or found.started != started:
            os.close(handle)
            self._loop.call_soon(self._on_exit, pid, started)
            return True
        self._handles[life] = handle
        self._loop.add_reader(handle, self._process_exit, life)
        return True

    def unwatch_process(self, pid: int, started: int) -> None:
        handle = self._handles.pop((pid, started), None)
        if handle is not None:
            self._loop.remove_reader(handle)
            os.close(handle)

    def close(self) -> None:
        for life in list(self._handles):
            self.unwatch_process(*life)

    def _process_exit(self, process_key: ProcessKey) -> None:
        self.unwatch_process(*process_key)
        self._on_exit(*process_key)


def _open_exit_descriptor(pid: int) -> int:
    """A descriptor that becomes readable when the process ends. ProcessLookupError: it ended before."""
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    queue = select.kqueue()
    with contextlib.closing(queue):
        queue.control([select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)], 0)
        return os.dup(queue.fileno())
