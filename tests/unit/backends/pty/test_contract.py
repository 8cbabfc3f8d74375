"""The contract of backends, on own PTYs of this machine."""

import os
import signal
from contextlib import contextmanager, suppress

from termvisor.backends.pty.backend import PtyBackend
from termvisor.pty_host.startup import HostOptions
from termvisor.settings import Settings
from termvisor.system.procfs import list_children
from termvisor.testing.contracts.backend import BackendContract
from tests.unit.backends.pty.host_process import run_host_with


class TestOwnPtys(BackendContract):
    build_backend = staticmethod(PtyBackend)

    @contextmanager
    def run_server(self, paths):
        options = HostOptions(paths.pty_host_socket, paths.recorder_socket, paths.raw_dir, paths.pty_result_dir)
        with run_host_with(options) as self.host:
            try:
                yield Settings(thin_interval=0.1, full_interval=1.0, flush_interval=0.01)
            finally:
                self._kill_all()

    async def kill_server(self, scene):
        self._kill_all()

    def _kill_all(self):
        """Kill the host and its programs, which would outlive it."""
        programs = list_children(self.host.pid) or []
        self.host.kill()
        for pid in programs:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.host.wait()
