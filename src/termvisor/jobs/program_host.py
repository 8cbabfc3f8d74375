"""Run jobs without a wrapper, in a backend that is the parent of its programs (`JobHost`).

The backend holds each program until its output is recorded, and tells how it ended; nothing of ours runs beside it.
"""

from collections.abc import Awaitable, Callable

from termvisor.backends.job_windows import JobPrograms
from termvisor.errors import Unavailable
from termvisor.jobs.host import JobProgress, OpenedTerminal, PreparedJob
from termvisor.model.ids import JobId, MuxPaneId, PaneId
from termvisor.model.job import Job, JobSpec
from termvisor.system.procfs import read_boot_id, read_start_time


class ProgramJobHost:
    """``start_backend`` starts the backend's server and returns the backend with the server's label."""

    def __init__(
        self,
        start_backend: Callable[[], Awaitable[tuple[JobPrograms, str]]],
        find_backend: Callable[[], JobPrograms | None],
        wait_for_pane: Callable[[OpenedTerminal, Callable[[], PaneId | None]], Awaitable[PaneId | None]],
    ):
        self._start_backend, self._find_backend = start_backend, find_backend
        self._wait_for_pane = wait_for_pane

    async def prepare(self, job: JobId, spec: JobSpec) -> PreparedJob:
        backend, server = await self._start_backend()
        mux_pane, pid = await backend.start_job_program(spec)
        terminal = OpenedTerminal(server=server, mux_pane=mux_pane, pid=pid)
        # It may have ended by the time its pane is known; the backend keeps how.
        started = read_start_time(pid)
        pane = await self._wait_for_pane(terminal, lambda: backend.find_job_pane(mux_pane))
        if pane is None:
            raise Unavailable("the output of the new terminal is not captured, so the job was not started")
        return PreparedJob(terminal=terminal, pane=pane, pid_started=started, boot=read_boot_id())

    async def begin(self, job: JobId) -> None:
        """Do nothing: the program runs as soon as its output is recorded."""

    async def read_progress(self, job: Job) -> JobProgress:
        backend = self._find_backend()
        if job.boot not in ("", read_boot_id()):
            return JobProgress(state="lost", loss="rebooted")
        if backend is None:
            return JobProgress(state="ready")
        found = backend.read_job_program(MuxPaneId(job.mux_pane), job.pid, job.pid_started)
        if found.state == "exited":
            return JobProgress(state="finished", started_at=found.started_at, end=found.end)
        if found.state == "unknown":
            return JobProgress(state="lost", loss="result_missing")
        state = "running" if found.state == "running" else "ready"
        return JobProgress(state=state, started_at=found.started_at, child=job.pid)  # type: ignore[arg-type]

    async def acknowledge(self, job: Job) -> None:
        if (backend := self._find_backend()) is not None:
            await backend.forget_job_program(MuxPaneId(job.mux_pane), job.pid, job.pid_started)

    async def is_drained(self, job: Job) -> bool:
        backend = self._find_backend()
        return backend is None or not await backend.has_unread_output(MuxPaneId(job.mux_pane))
