"""Find the foreground process group of a pane's terminal. Linux only; elsewhere no process is in the foreground."""

import os
import stat
from collections.abc import Iterable

from termvisor.system import procfs


def find_foreground_group(pid: int) -> int:
    """Return the foreground process group of the terminal of ``pid``; 0 if it has no terminal or is unknown."""
    process = procfs.read_stat(pid)
    return max(0, process.foreground_group) if process else 0


def filter_group_members(group: int, pids: Iterable[int]) -> frozenset[int]:
    """Return the processes that belong to this process group."""
    return frozenset(pid for pid in pids if group and _get_process_group(pid) == group)


def is_printing_in_pane(pid: int, started: int, pane_pid: int) -> bool | None:
    """Return True if a process is in the foreground of a pane and its output goes there, directly or through a pipe.

    ``pane_pid`` is the first process of the pane. Returns None if the process has exited.
    """
    process, shell = procfs.read_stat(pid), procfs.read_stat(pane_pid)
    if process is None or process.started != started:
        return None
    is_foreground = (
        shell is not None and process.group == shell.foreground_group and process.terminal == shell.terminal != 0
    )
    return is_foreground and _is_printing_to(pid, process.terminal)


def _get_process_group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:  # it has exited
        return 0


def _is_printing_to(pid: int, terminal: int) -> bool:
    """Return True if stdout is this terminal or a pipe; output that goes to a file is not shown in the pane."""
    try:
        stdout = os.stat(f"/proc/{pid}/fd/1")
    except OSError:  # it has exited, or belongs to another user
        return False
    device = os.makedev(*procfs.split_device_number(terminal))
    return stat.S_ISFIFO(stdout.st_mode) or (stat.S_ISCHR(stdout.st_mode) and stdout.st_rdev == device)
