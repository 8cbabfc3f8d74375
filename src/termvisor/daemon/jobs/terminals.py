"""Open the terminals of jobs in tmux, on the private server or in a session of the user's server."""

from collections.abc import Awaitable, Callable

from termvisor.backends.tmux.job_windows import open_private_window, open_session_window, start_job_server
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.daemon.components import Components
from termvisor.errors import Unavailable
from termvisor.jobs.host import OpenedTerminal
from termvisor.model.ids import JobId, PaneId
from termvisor.model.job import JobSpec

WINDOW_PREFIX = "auto:"
"""Begins the name of every window of a job."""
_SERVER_TIMEOUT_S = 10.0
_CAPTURE_TIMEOUT_S = 20.0
_POLL_INTERVAL_S = 0.01


class TmuxTerminals:
    """Opens windows on watched servers; ``find_server`` finds the user's by its socket, empty for the only one."""

    def __init__(self, components: Components, find_server: Callable[[str], Awaitable[ServerWatcher]]):
        self._components, self._find_user_server = components, find_server

    async def open_terminal(self, job: JobId, spec: JobSpec, command: tuple[str, ...]) -> OpenedTerminal:
        watcher = await self._find_server(spec)
        open_window = open_session_window if spec.place == "session" else open_private_window
        pane, pid = await open_window(watcher.server, f"{WINDOW_PREFIX}{job}", spec, command)
        watcher.request_listing()
        return OpenedTerminal(server=watcher.socket, mux_pane=pane, pid=pid)

    async def wait_until_captured(self, terminal: OpenedTerminal) -> PaneId | None:
        watcher = self._components.server_supervisor.watchers.get(terminal.server)
        if watcher is None:
            return None
        clock = self._components.clock
        until = clock.monotonic() + _CAPTURE_TIMEOUT_S
        while clock.monotonic() < until:
            pane = self._find_captured(watcher, terminal)
            if pane is not None:
                return pane
            await clock.sleep(_POLL_INTERVAL_S)
        return None

    def _find_captured(self, watcher: ServerWatcher, terminal: OpenedTerminal) -> PaneId | None:
        """Return the pane once the recorder holds its pipe."""
        known = watcher.known_panes.get(terminal.mux_pane)
        if known is None or known.facts.pid != terminal.pid:
            return None
        state = watcher.captures.find_pane(terminal.mux_pane)
        epoch = state.epoch if state is not None else None
        if epoch is None or not self._components.recorder.is_stream_open(epoch.id):
            return None
        return known.id

    async def _find_server(self, spec: JobSpec) -> ServerWatcher:
        """Return the watcher of the server for the job; start the private one. Raises VisorError."""
        supervisor, paths = self._components.server_supervisor, self._components.paths
        await supervisor.first_scan_done.wait()
        if spec.place == "session":
            return await self._find_user_server(spec.server)
        await start_job_server(self._components.settings.tmux_program, paths.job_socket)
        return await self._wait_for_watcher(paths.job_socket)

    async def _wait_for_watcher(self, socket: str) -> ServerWatcher:
        # A new server is found by the next scan.
        clock, watchers = self._components.clock, self._components.server_supervisor.watchers
        until = clock.monotonic() + _SERVER_TIMEOUT_S
        while clock.monotonic() < until:
            watcher = watchers.get(socket)
            if watcher is not None and watcher.is_watching:
                return watcher
            await clock.sleep(_POLL_INTERVAL_S)
        raise Unavailable("the tmux server for jobs is not watched", hint="`visor doctor` says what is wrong.")
