"""What a process costs: memory and CPU. Linux reads /proc; macOS (untested) asks ps."""

import os
import sys
from collections import deque

from termvisor.model.health import ProcessUsage
from termvisor.system.subprocesses import run_and_capture

_SAMPLE_WINDOW_S = 60.0


class ProcessUsageSampler:
    """CPU percent of a process over the last minute, from samples taken whenever somebody asks."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=256)
        self._pid = 0

    def sample_usage(self, pid: int, monotonic: float) -> ProcessUsage | None:
        """None when there is no such process."""
        found = _read_from_proc(pid) if sys.platform == "linux" else _read_from_ps(pid)
        if found is None:
            return None
        if pid != self._pid:
            self._pid = pid
            self._samples.clear()
        rss, cpu = found
        self._samples.append((monotonic, cpu))
        while len(self._samples) > 2 and monotonic - self._samples[0][0] > _SAMPLE_WINDOW_S:
            self._samples.popleft()
        since, before = self._samples[0]
        percent = 100 * (cpu - before) / (monotonic - since) if monotonic > since else 0.0
        return ProcessUsage(pid=pid, rss_bytes=rss, cpu_seconds=round(cpu, 2), cpu_percent=round(percent, 2))


def _read_from_proc(pid: int) -> tuple[int, float] | None:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            pages = int(file.read().split()[1])
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE"), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read_from_ps(pid: int) -> tuple[int, float] | None:
    status, out, _ = run_and_capture(["ps", "-o", "rss=,cputime=", "-p", str(pid)])
    words = out.split()
    if status != 0 or len(words) != 2:
        return None
    seconds = 0.0
    for part in words[1].replace(b"-", b":").split(b":"):
        seconds = seconds * 60 + float(part)
    return int(words[0]) * 1024, seconds
