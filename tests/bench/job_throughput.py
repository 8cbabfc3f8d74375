"""Measure what a short job costs in own PTYs and on the private tmux server, with every exit code checked."""

from __future__ import annotations

import time
from pathlib import Path

from tests.bench.figure import BudgetedFigure
from tests.live.jobs.job_scene import JobScene, run_job_scene

JOBS, WORKERS, TICKS_PER_SECOND = 200, 16, 100


def measure_jobs() -> list[BudgetedFigure]:
    with run_job_scene() as scene:
        for place in ("pty", "tmux"):
            scene.wait(scene.run("--place", place, "--", "true"), "--ended")
        pty_rate, pty_cpu = _run_jobs(scene, "pty")
        tmux_rate, tmux_cpu = _run_jobs(scene, "tmux")
    return [
        BudgetedFigure(
            "jobs/s in own PTYs", pty_rate / tmux_rate, 3.0, "x", f"on the tmux server: {tmux_rate:.1f} jobs/s", True
        ),
        BudgetedFigure("CPU of a job in own PTYs, daemon included", pty_cpu, 10, "ms", f"on tmux: {tmux_cpu:.1f} ms"),
    ]


def _run_jobs(scene: JobScene, place: str) -> tuple[float, float]:
    """Return jobs per second, and CPU milliseconds of all processes of the instance for each job."""
    commands = [("--place", place, "--", "sh", "-c", f"exit {number % 100}") for number in range(JOBS)]
    before, began = _read_cpu(scene), time.monotonic()
    ended = [scene.wait(job, "--ended") for job in scene.run_each(commands, WORKERS)]
    seconds = time.monotonic() - began
    used = sum(ticks - before.get(pid, 0) for pid, ticks in _read_cpu(scene).items())
    wrong = [job for number, job in enumerate(ended) if job["code"] != number % 100]
    if wrong:
        raise AssertionError(f"wrong ends: {wrong[:3]}")
    return JOBS / seconds, 1000 * used / TICKS_PER_SECOND / JOBS


def _read_cpu(scene: JobScene) -> dict[int, int]:
    """Return the CPU ticks, with those of ended children, of the processes whose environment names the instance."""
    folder, found = scene.visor.paths.data_dir.encode(), {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if folder in (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes():
                    fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                    found[int(entry.name)] = sum(map(int, fields[11:15]))
            except OSError:  # it has exited
                continue
    return found
