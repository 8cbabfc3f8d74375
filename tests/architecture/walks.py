"""Trace which files of the product one user-visible flow passes, in a real daemon and in the client.

The recorder runs isolated from the environment (`python -I`) and cannot be traced; its own package counts as passed by
the flows that capture output.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from termvisor.testing.visor_instance import VisorInstance
from tests.architecture.source import ROOT, SOURCE

TRACING = ROOT / "tests" / "architecture" / "tracing"


class TracedInstance:
    """A Termvisor whose processes record the files that they execute."""

    def __init__(self, visor: VisorInstance, folder: Path):
        self.visor, self.folder = visor, folder
        folder.mkdir(exist_ok=True)
        visor.env = {
            **visor.env,
            "PYTHONPATH": str(TRACING),
            "TRACE_FOLDER": str(folder),
            "TRACE_SOURCE": str(SOURCE / "termvisor"),
        }

    @contextmanager
    def trace(self) -> Iterator[list[str]]:
        """Collect the files that daemon and clients pass inside the block, in the order of their first call."""
        files: list[str] = []
        daemon = self.visor.daemon_pid
        os.kill(daemon, signal.SIGUSR2)
        for path in self.folder.iterdir():
            path.unlink()
        yield files
        os.kill(daemon, signal.SIGUSR1)
        self._await_file(self.folder / str(daemon))
        for path in sorted(self.folder.iterdir(), key=lambda one: one.name == str(daemon)):
            files += [name for name in path.read_text().split("\n") if name not in files]

    def _await_file(self, path: Path) -> None:
        deadline = time.monotonic() + 10.0
        while not path.exists():
            assert time.monotonic() < deadline, f"{path} was not written"
            time.sleep(0.01)
