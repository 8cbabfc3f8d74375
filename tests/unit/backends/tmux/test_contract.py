"""tmux on this machine keeps the contract of backends."""

from contextlib import contextmanager

from termvisor.backends.tmux.backend import TmuxBackend
from termvisor.settings import Settings
from termvisor.testing.contracts.backend import BackendContract
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux


class TestLocalTmux(BackendContract):
    build_backend = staticmethod(TmuxBackend)

    @contextmanager
    def run_server(self, paths):
        with run_private_tmux(paths.runtime_dir) as tmux:
            tmux.start_session(command="cat")
            yield Settings(thin_interval=0.1, full_interval=1.0, flush_interval=0.01, tmux_sockets=(tmux.socket,))

    async def kill_server(self, scene):
        PrivateTmux((await scene.wait_for_watcher()).key.address).kill_server()
