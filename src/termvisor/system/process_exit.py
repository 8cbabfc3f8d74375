"""The end of a process, told the moment it comes: a pidfd on Linux; on macOS (untested) kqueue.

Where the kernel gives no such handle, `watch` says so, and the end is seen by the next look at the processes.
"""

import asyncio
import contextlib
import os
import select
import sys
from collections.abc import Callable

from termvisor.system import procfs as kernel

Life = tuple[int, int]
"""A pid and its start."""


class Ends:
    """Tells each end once, on the event loop. Close it before the loop."""

    def __init__(self, told: Callable[[int, int], None]):
        self._told = told
        self._loop = asyncio.get_running_loop()
        self._handles: dict[Life, int] = {}

    def watch(self, pid: int, started: int) -> bool:
        """False where its end cannot be heard. One that is gone already is told soon."""
        life = (pid, started)
        if life in self._handles:
            return True
        try:
            handle = _handle(pid)
        except ProcessLookupError:
            self._loop.call_soon(self._told, pid, started)
            return True
        except (OSError, AttributeError):
            return False
        found = kernel.entry(pid)
        if found is None or found.started != started:
            os.close(handle)
            self._loop.call_soon(self._told, pid, started)
            return True
        self._handles[life] = handle
        self._loop.add_reader(handle, self._ended, life)
        return True

    def forget(self, pid: int, started: int) -> None:
        handle = self._handles.pop((pid, started), None)
        if handle is not None:
            self._loop.remove_reader(handle)
            os.close(handle)

    def close(self) -> None:
        for life in list(self._handles):
            self.forget(*life)

    def _ended(self, life: Life) -> None:
        self.forget(*life)
        self._told(*life)


def _handle(pid: int) -> int:
    """A descriptor that becomes readable when the process ends. ProcessLookupError: it ended before."""
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    queue = select.kqueue()
    with contextlib.closing(queue):
        queue.control([select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)], 0)
        return os.dup(queue.fileno())
