"""The contracts of backends for jobs: windows for their wrappers (`JobWindows`), or programs that need none
(`JobPrograms`)."""

from collections.abc import Callable
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from termvisor.backends.pane_source import PaneSource
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.job import JobEnd, JobSpec


@runtime_checkable
class JobWindows(Protocol):
    async def start_job_server(self) -> str:
        """Start the private server for jobs unless it runs; return its address. Raises MuxError."""

    async def release_job_server(self) -> None:
        """Let the private server exit with its last job, at once if it has none."""

    async def open_job_window(
        self, source: PaneSource, name: str, spec: JobSpec, command: tuple[str, ...]
    ) -> tuple[MuxPaneId, int]:
        """Open a window on the private server or, for the place `session`, in the session that the job names.

        In a user's session nothing that is shown changes. Returns the pane and its process id. Raises MuxError.
        """


class JobProgramState(Struct, frozen=True, kw_only=True):
    """A program that the backend started for a job, as its parent or the file that it left tells it."""

    state: Literal["held", "running", "exited", "unknown"]
    started_at: int = 0
    end: JobEnd | None = None


@runtime_checkable
class JobPrograms(Protocol):
    """A backend that is the parent of its programs, so that a job needs no process of ours in its terminal."""

    async def start_job_program(self, spec: JobSpec) -> tuple[MuxPaneId, int]:
        """Open a terminal whose program waits until its output is recorded; return its pane and process id.

        Raises VisorError, and nothing was started.
        """

    def find_job_pane(self, mux_pane: MuxPaneId) -> PaneId | None:
        """Return the pane as which the recorder holds a terminal, also after its program has ended."""

    def read_job_program(self, mux_pane: MuxPaneId, pid: int, started: int) -> JobProgramState:
        """Return how a program is doing, or how it ended; `unknown` if it is gone without a trace."""

    async def has_unread_output(self, mux_pane: MuxPaneId) -> bool:
        """Return True if a terminal holds bytes that are not recorded yet."""

    async def forget_job_program(self, mux_pane: MuxPaneId, pid: int, started: int) -> None:
        """Close the terminal of a program that has ended, and delete what is kept of it."""

    def watch_job_programs(self, note: Callable[[int], None]) -> Callable[[], None]:
        """Call a function with the process id of each program that changes; return what ends that."""
