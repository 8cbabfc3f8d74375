"""When a process started: with its pid, this names one life of it. Linux reads /proc; macOS (untested) asks ps."""

import os
import sys
from datetime import datetime

from termvisor.system.subprocesses import run_and_capture


def read_start_time(pid: int) -> int:
    """Clock ticks since boot (macOS: seconds since 1970); 0 when no such process lives, and a zombie does not."""
    return _read_from_proc(pid) if sys.platform == "linux" else _read_from_ps(pid)


def _read_from_proc(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            return 0 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        return 0


def _read_from_ps(pid: int) -> int:
    status, out, _ = run_and_capture(["ps", "-o", "lstart=", "-p", str(pid)])
    if status != 0:
        return 0
    return int(datetime.strptime(out.decode().strip(), "%a %b %d %H:%M:%S %Y").astimezone().timestamp())


def count_children(pid: int) -> int | None:
    """How many programs it has started that still run; None where that cannot be known."""
    found: list[bytes] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += file.read().split()
    except OSError:
        return None
    return sum(read_start_time(int(child)) > 0 for child in found)


def list_ancestor_names(pid: int) -> list[str]:
    """The names of a process and of those it descends from, nearest first; empty where that cannot be known."""
    names: list[str] = []
    while pid > 1 and len(names) < 64:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                head, _, rest = file.read().rpartition(b")")
        except OSError:
            break
        names.append(head.partition(b"(")[2].decode("utf-8", "replace"))
        pid = int(rest.split()[1])
    return names
