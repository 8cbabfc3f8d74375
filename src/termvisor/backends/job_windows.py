"""The contract of backends in which jobs have windows of their own (`JobWindows`), besides ordinary panes."""

from typing import Protocol, runtime_checkable

from termvisor.backends.pane_source import PaneSource
from termvisor.model.ids import MuxPaneId
from termvisor.model.job import JobSpec


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
