"""Run the wrapper of a job in a real terminal, as a place of jobs does."""

import os
import pty
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.jobs.job_folder import JobFolder
from termvisor.model.ids import JobId
from termvisor.model.job import JobSpec


class JobTerminal:
    """A wrapper in a terminal; its command begins with `begin`."""

    def __init__(self, folder: str, spec: JobSpec, linger: float = 5.0):
        self.folder = JobFolder(folder, JobId(7))
        self.folder.prepare(spec, linger)
        command = self.folder.command
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)
        self.output = b""
        self.is_reaped = False

    def read_until(self, word: bytes) -> bytes:
        """Read until the output contains a word or the terminal is closed."""
        while word not in self.output and self._read():
            pass
        return self.output

    def finish(self) -> bytes:
        """Read to the end, acknowledging the mark; return the output before it."""
        while self._read():
            if (mark := self.folder.find_end_mark(self.output)) is not None:
                self.folder.acknowledge()
        self.reap()
        mark = self.folder.find_end_mark(self.output)
        return self.output if mark is None else self.output[: mark[0]]

    def _read(self) -> bool:
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the last process closed the terminal
            return False
        self.output += data
        return bool(data)

    def reap(self) -> None:
        if not self.is_reaped:
            self.is_reaped = True
            os.waitpid(self.pid, 0)

    def close(self) -> None:
        os.close(self.master)
        if not self.is_reaped:
            os.kill(self.pid, signal.SIGKILL)
            self.reap()


@contextmanager
def open_job(folder: object, *argv: str, linger: float = 5.0, **options: object) -> Iterator[JobTerminal]:
    terminal = JobTerminal(str(folder), JobSpec(argv=argv, **options), linger)
    try:
        yield terminal
    finally:
        terminal.close()


def run_job(folder: object, *argv: str, **options: object) -> tuple[bytes, JobFolder]:
    """Run a command to its end; return its output and the folder with the result."""
    with open_job(folder, *argv, **options) as job:
        job.folder.begin()
        return job.finish(), job.folder
