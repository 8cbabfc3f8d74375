"""Who has the terminal of a pane, and when a process began. Linux only; elsewhere nobody is said to have it."""

import os
import stat
import sys
from collections.abc import Iterable

from termvisor.clock import NS

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_MIN_STAT_FIELDS = 19
_DEAD_STATES = (b"Z", b"X")


def find_foreground_group(pid: int) -> int:
    """The process group that has the terminal of this process; 0 where it has none or that is not told."""
    told = _read_stat(pid)
    return max(0, int(told[5])) if told else 0


def filter_group_members(group: int, pids: Iterable[int]) -> frozenset[int]:
    """Those of the processes that belong to this group."""
    return frozenset(pid for pid in pids if group and _get_process_group(pid) == group)


def is_printing_in_pane(pid: int, started: int, pane_pid: int) -> bool | None:
    """Whether this process has the terminal of a pane, given with its first process, and prints there itself or through
    a pipe. None when it lives no more.
    """
    own, shell = _read_stat(pid), _read_stat(pane_pid)
    if not own or int(own[19]) != started:
        return None
    is_in_front = bool(shell) and int(own[2]) == int(shell[5]) and own[4] == shell[4] != b"0"
    return is_in_front and _is_printing_to(pid, int(shell[4]))


def compute_start_instant(started: int, now: int) -> int:
    """The instant at which a process began, from its start as the kernel tells it; never after now."""
    if sys.platform != "linux":
        return min(now, started * NS)
    try:
        with open("/proc/uptime", "rb") as file:
            up_for = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return now
    return min(now, now - int((up_for - started / _TICKS_PER_SECOND) * NS))


def _get_process_group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _read_stat(pid: int) -> list[bytes]:
    """What the kernel tells of a process, from its state on; empty where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            told = file.read().rpartition(b")")[2].split()
    except OSError:
        return []
    return told if len(told) > _MIN_STAT_FIELDS and told[0] not in _DEAD_STATES else []


def _is_printing_to(pid: int, terminal: int) -> bool:
    """``terminal`` as the kernel numbers it in /proc. Output in a file is not what the pane shows."""
    try:
        out = os.stat(f"/proc/{pid}/fd/1")
    except OSError:
        return False
    device = os.makedev((terminal >> 8) & 0xFFF, (terminal & 0xFF) | ((terminal >> 12) & 0xFFF00))
    return stat.S_ISFIFO(out.st_mode) or (stat.S_ISCHR(out.st_mode) and out.st_rdev == device)
