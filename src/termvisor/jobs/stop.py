"""End the processes of a job: the foreground program first, then everything that its terminal started."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress

from termvisor.bus import Subscription, wait_for_update
from termvisor.clock import Clock
from termvisor.jobs.job_folder import is_wrapper_alive
from termvisor.model.job import Job
from termvisor.system.procfs import list_processes, read_stat

_STEPS = (("INT", 2.0), ("TERM", 3.0), ("KILL", 1.0))
"""The signals for the foreground group, and how many seconds it gets after each."""
_SESSION_STEPS = (("TERM", 1.0), ("KILL", 3.0))


async def stop_processes(job: Job, clock: Clock, updates: Subscription[Job], note: Callable[[], None]) -> None:
    """Signal the job until ``updates`` reports its end; ``note`` has it looked at."""
    for name, seconds in _STEPS:
        first = read_stat(job.pid) if _is_alive(job) else None
        # The wrapper itself must stay to record the end; it is in the foreground before and after the command.
        if (
            first is not None
            and first.foreground_group > 1
            and not (first.group == first.foreground_group and job.has_wrapper)
        ):
            _send_to_group(first.foreground_group, name)
        if await _wait_for_end(clock, updates, seconds, note):
            return
    for name, seconds in _SESSION_STEPS:
        for process in list_processes():
            if process.session_id == job.pid and not (process.pid == job.pid and job.has_wrapper):
                _send_to_process(process.pid, name)
        if await _wait_for_end(clock, updates, seconds, note):
            return
    # Nothing recorded an end: the wrapper itself hangs.
    if _is_alive(job):
        _send_to_process(job.pid, "KILL")
    await _wait_for_end(clock, updates, 1.0, note)


async def _wait_for_end(clock: Clock, updates: Subscription[Job], seconds: float, note: Callable[[], None]) -> bool:
    note()
    return bool(await wait_for_update(clock, seconds, updates))


def _is_alive(job: Job) -> bool:
    return is_wrapper_alive(job.pid, job.pid_started, job.boot)


def _send_to_group(group: int, name: str) -> None:
    with suppress(OSError):  # it has just exited
        os.killpg(group, getattr(signal, f"SIG{name}"))


def _send_to_process(pid: int, name: str) -> None:
    with suppress(OSError):
        os.kill(pid, getattr(signal, f"SIG{name}"))
