"""Who has the terminal of a pane, and when a process began. Linux only; elsewhere nobody is said to have it."""

import os
import sys
from collections.abc import Iterable

from termvisor.clock import NS

_TICKS = os.sysconf("SC_CLK_TCK")


def foreground(pid: int) -> int:
    """The process group that has the terminal of this process; 0 where it has none or that is not told."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return max(0, int(file.read().rpartition(b")")[2].split()[5]))
    except (OSError, ValueError, IndexError):
        return 0


def members(group: int, pids: Iterable[int]) -> frozenset[int]:
    """Those of the processes that belong to this group."""
    return frozenset(pid for pid in pids if group and _group(pid) == group)


def began_at(started: int, now: int) -> int:
    """The instant at which a process began, from its start as the kernel tells it; never after now."""
    if sys.platform != "linux":
        return min(now, started * NS)
    try:
        with open("/proc/uptime", "rb") as file:
            up_for = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return now
    return min(now, now - int((up_for - started / _TICKS) * NS))


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0
