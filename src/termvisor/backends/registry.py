"""The backends of this daemon: the built-in ones, and those of other packages (entry point ``termvisor.backends``).

An entry point is a factory as in `BUILTIN`. A plug-in with the name of a built-in backend replaces it.
"""

from collections.abc import Callable, Mapping

from termvisor.backends.backend import Backend, BackendDependencies
from termvisor.backends.pty.backend import PtyBackend
from termvisor.backends.tmux.backend import TmuxBackend
from termvisor.log import get_logger
from termvisor.plugins import load_plugins

BackendFactory = Callable[[BackendDependencies], Backend]
BUILTIN: Mapping[str, BackendFactory] = {TmuxBackend.name: TmuxBackend, PtyBackend.name: PtyBackend}

log = get_logger("backends")


def build_backends(dependencies: BackendDependencies) -> dict[str, Backend]:
    """Return the backends by name; log and skip those that cannot be built."""
    backends = {name: build(dependencies) for name, build in BUILTIN.items()}
    for name, factory in load_plugins("backends").items():
        try:
            if not callable(factory):
                raise TypeError("it is not callable")
            backends[name] = factory(dependencies)
        except Exception:  # third-party code may raise anything; it must not stop the daemon
            log.exception("cannot build the backend %s", name)
    return backends
