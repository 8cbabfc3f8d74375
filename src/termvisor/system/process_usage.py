"""Measure memory and CPU use of a process. Linux reads /proc; macOS (untested) runs ps."""

import os
import sys
from collections import deque

from termvisor.model.health import ProcessUsage
from termvisor.system import procfs
from termvisor.system.subprocesses import run_and_capture

_SAMPLE_WINDOW_S = 60.0


class ProcessUsageSampler:
    """Compute the CPU percentage of a process over the last minute from the samples its callers request."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=256)
        self._pid = 0

    def sample_usage(self, pid: int, monotonic: float) -> ProcessUsage | None:
        """Return the current usage, or None if the process does not exist."""
        usage = _read_from_proc(pid) if sys.platform == "linux" else _read_from_ps(pid)
        if usage is None:
            return None
        if pid != self._pid:
            self._pid = pid
            self._samples.clear()
        rss, cpu = usage
        self._samples.append((monotonic, cpu))
        while len(self._samples) > 2 and monotonic - self._samples[0][0] > _SAMPLE_WINDOW_S:
            self._samples.popleft()
        since, cpu_before = self._samples[0]
        percent = 100 * (cpu - cpu_before) / (monotonic - since) if monotonic > since else 0.0
        return ProcessUsage(pid=pid, rss_bytes=rss, cpu_seconds=round(cpu, 2), cpu_percent=round(percent, 2))


def _read_from_proc(pid: int) -> tuple[int, float] | None:
    """Return the resident memory in bytes and the CPU time in seconds."""
    process = procfs.read_stat(pid)
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            pages = int(file.read().split()[1])
    except (OSError, IndexError, ValueError):  # it has exited
        return None
    if process is None:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE"), process.cpu_ticks / procfs.TICKS_PER_SECOND


def _read_from_ps(pid: int) -> tuple[int, float] | None:
    status, out, _ = run_and_capture(["ps", "-o", "rss=,cputime=", "-p", str(pid)])
    columns = out.split()
    if status != 0 or len(columns) != 2:
        return None
    seconds = 0.0
    for part in columns[1].replace(b"-", b":").split(b":"):
        seconds = seconds * 60 + float(part)
    return int(columns[0]) * 1024, seconds
