"""Read when a process started. With its pid, the start time identifies a process although pids are reused."""

import os
import sys

from termvisor.clock import NS
from termvisor.system import procfs

_MAX_ANCESTORS = 64


def read_start_time(pid: int) -> int:
    """Return the start in clock ticks since boot (macOS: seconds since 1970); 0 if the process has exited.

    A zombie counts as exited.
    """
    process = procfs.read_process(pid)
    return 0 if process is None else process.started


def compute_start_instant(started: int, now: int) -> int:
    """Convert a start time as the kernel counts it to nanoseconds since 1970, never after ``now``."""
    if sys.platform != "linux":
        return min(now, started * NS)
    try:
        with open("/proc/uptime", "rb") as file:
            uptime_s = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):  # a container may hide /proc/uptime
        return now
    return min(now, now - int((uptime_s - started / procfs.TICKS_PER_SECOND) * NS))


def count_children(pid: int) -> int | None:
    """Return the number of running child processes; None if it cannot be read."""
    children: list[bytes] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                children += file.read().split()
    except OSError:  # it has exited, or this is not Linux
        return None
    return sum(read_start_time(int(child)) > 0 for child in children)


def list_ancestor_names(pid: int) -> list[str]:
    """Return the names of a process and its ancestors, nearest first; empty if they cannot be read."""
    names: list[str] = []
    while pid > 1 and len(names) < _MAX_ANCESTORS and (process := procfs.read_process(pid)) is not None:
        names.append(process.name)
        pid = process.parent_pid
    return names
