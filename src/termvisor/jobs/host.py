"""The contract of a place where jobs run (`JobHost`), and its implementation for terminals of this machine.

A host separates the steps, so that nothing is lost between them: first the terminal exists and its wrapper waits, then
the recorder holds the terminal's output, and only then the command begins.
"""

from typing import Literal, Protocol

from msgspec import Struct

from termvisor.errors import Unavailable
from termvisor.jobs.job_folder import JobFolder, is_wrapper_alive
from termvisor.model.ids import JobId, MuxPaneId, PaneId
from termvisor.model.job import Job, JobEnd, JobPlace, JobSpec
from termvisor.system.procfs import read_boot_id, read_start_time

LossCause = Literal["wrapper_killed", "never_started", "never_begun", "result_missing", "rebooted"]


class OpenedTerminal(Struct, frozen=True, kw_only=True):
    """A new terminal: its pane in a multiplexer server, and its first process."""

    server: str
    mux_pane: MuxPaneId
    pid: int


class PreparedJob(Struct, frozen=True, kw_only=True):
    """A job whose wrapper waits; ``pane`` is the captured pane of its terminal."""

    terminal: OpenedTerminal
    pane: PaneId
    pid_started: int
    boot: str


class JobProgress(Struct, frozen=True, kw_only=True):
    """How far a job is: waiting to begin, running, ended, or lost because its end is unknown."""

    state: Literal["ready", "running", "finished", "lost"]
    started_at: int = 0
    child: int = 0
    """The process group of the command."""
    end: JobEnd | None = None
    loss: LossCause | None = None


class JobTerminals(Protocol):
    """Opens terminals in one place."""

    async def open_terminal(self, job: JobId, spec: JobSpec, command: tuple[str, ...]) -> OpenedTerminal:
        """Start a command in a new terminal. Raises VisorError, and nothing was started."""

    async def wait_until_captured(self, terminal: OpenedTerminal) -> PaneId | None:
        """Wait until the recorder holds the terminal's output; None if that takes too long or cannot be."""


class JobHost(Protocol):
    async def prepare(self, job: JobId, spec: JobSpec) -> PreparedJob:
        """Open the terminal of a job. Its command waits. Raises VisorError, and then nothing remains."""

    async def begin(self, job: JobId) -> None:
        """Start the command of a prepared job. Repeating it does nothing."""

    async def read_progress(self, job: Job) -> JobProgress:
        """Return how far the job is, from what its wrapper recorded and whether it is alive."""

    async def acknowledge(self, job: Job) -> None:
        """Let the terminal close and remove what was kept of the job: its end and all its output are stored."""

    async def is_drained(self, job: Job) -> bool:
        """Return True if all that an ended job printed is recorded, whether or not its terminal is still open."""


class WrapperJobHost:
    """Runs jobs through our wrapper in any terminal; ``linger`` is how long it waits to be acknowledged."""

    def __init__(self, folder: str, terminals: dict[JobPlace, JobTerminals], linger: float):
        self._folder, self._terminals, self._linger = folder, terminals, linger
        self._folders: dict[JobId, JobFolder] = {}

    def get_folder(self, job: JobId) -> JobFolder:
        return self._folders.setdefault(job, JobFolder(self._folder, job))

    async def prepare(self, job: JobId, spec: JobSpec) -> PreparedJob:
        folder, terminals = self.get_folder(job), self._terminals[spec.place]
        folder.prepare(spec, self._linger)
        try:
            terminal = await terminals.open_terminal(job, spec, folder.command)
            pane = await terminals.wait_until_captured(terminal)
        except BaseException:
            # Without its spec file, a wrapper that was started all the same exits at once.
            self.forget(job)
            raise
        if pane is None:
            self.forget(job)
            raise Unavailable("the output of the new terminal is not captured, so the job was not started")
        return PreparedJob(terminal=terminal, pane=pane, pid_started=read_start_time(terminal.pid), boot=read_boot_id())

    async def begin(self, job: JobId) -> None:
        self.get_folder(job).begin()

    async def read_progress(self, job: Job) -> JobProgress:
        recorded = self.get_folder(job.id).read_result()
        if recorded is not None and recorded.end is not None:
            return JobProgress(state="finished", end=recorded.end, started_at=recorded.started_at)
        is_alive = is_wrapper_alive(job.pid, job.pid_started, job.boot)
        if recorded is None:
            # The wrapper has not written yet, or the file was removed by hand.
            return JobProgress(state="ready") if is_alive else self._lose(job, "result_missing")
        if recorded.state == "never_told":
            return self._lose(job, "never_begun")
        if is_alive:
            state: Literal["ready", "running"] = "running" if recorded.state == "running" else "ready"
            return JobProgress(state=state, started_at=recorded.started_at, child=recorded.child)
        # It may have written its last word after the file was read.
        recorded = self.get_folder(job.id).read_result() or recorded
        if recorded.end is not None:
            return JobProgress(state="finished", end=recorded.end, started_at=recorded.started_at)
        return self._lose(job, "wrapper_killed" if recorded.state == "running" else "never_started")

    def _lose(self, job: Job, loss: LossCause) -> JobProgress:
        is_other_boot = job.boot not in ("", "-", read_boot_id())
        return JobProgress(state="lost", loss="rebooted" if is_other_boot else loss)

    async def acknowledge(self, job: Job) -> None:
        self.get_folder(job.id).acknowledge()
        self.forget(job.id)

    async def is_drained(self, job: Job) -> bool:
        # Its mark tells, which comes behind all output.
        return False

    def forget(self, job: JobId) -> None:
        """Remove the files of a job that has ended."""
        self.get_folder(job).remove()
        self._folders.pop(job, None)
