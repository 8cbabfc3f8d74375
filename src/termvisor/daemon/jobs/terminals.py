"""Open the terminals of jobs: own PTYs, windows on the private server, windows in a session of the user."""

from collections.abc import Awaitable, Callable

from termvisor.backends.job_windows import JobPrograms, JobWindows
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.daemon.components import Components
from termvisor.errors import Unavailable
from termvisor.jobs.host import OpenedTerminal
from termvisor.model.action.action import Spawn
from termvisor.model.ids import JobId, PaneId
from termvisor.model.job import JobSpec
from termvisor.model.terminal.target import LOCAL

WINDOW_PREFIX = "auto:"
"""Begins the name of every window of a job."""
_WINDOW_BACKEND, _PTY_BACKEND = "tmux", "pty"
_SERVER_TIMEOUT_S = 10.0
_CAPTURE_TIMEOUT_S = 20.0
_POLL_INTERVAL_S = 0.01


class LiveTerminals:
    """Opens terminals on watched servers; ``find_server`` finds the user's server by its address, if it has one."""

    def __init__(self, components: Components, find_server: Callable[[str], Awaitable[ServerWatcher]]):
        self._components, self._find_user_server = components, find_server

    async def open_terminal(self, job: JobId, spec: JobSpec, command: tuple[str, ...]) -> OpenedTerminal:
        supervisor, name = self._components.server_supervisor, f"{WINDOW_PREFIX}{job}"
        await supervisor.first_scan_done.wait()
        if spec.place == "pty":
            return await self._open_pty(name, command)
        backend = supervisor.backends.get(_WINDOW_BACKEND)
        if not isinstance(backend, JobWindows):
            raise Unavailable("no backend opens windows for jobs")
        if spec.place == "session":
            watcher = await self._find_user_server(spec.server)
        else:
            watcher = await self._wait_for_watcher(await backend.start_job_server())
        pane, pid = await backend.open_job_window(watcher.server, name, spec, command)
        watcher.request_listing()
        return OpenedTerminal(server=watcher.key.label, mux_pane=pane, pid=pid)

    def find_job_programs(self) -> JobPrograms | None:
        """Return the access to programs that need no wrapper; None if own PTYs are not available."""
        backend = self._components.server_supervisor.backends.get(_PTY_BACKEND)
        programs = getattr(backend, "jobs", None)
        return programs if isinstance(programs, JobPrograms) else None

    async def start_job_programs(self) -> tuple[JobPrograms, str]:
        """Start the server of own PTYs; return the access to its programs and its label. Raises Unavailable."""
        watcher, programs = await self._start_pty_server(), self.find_job_programs()
        if programs is None:
            raise Unavailable("own PTYs are not available here", hint="Choose another place: `--place tmux`.")
        return programs, watcher.key.label

    async def _start_pty_server(self) -> ServerWatcher:
        supervisor = self._components.server_supervisor
        await supervisor.first_scan_done.wait()
        if _PTY_BACKEND not in supervisor.backends:
            raise Unavailable("own PTYs are not available here", hint="Choose another place: `--place tmux`.")
        try:
            watcher = await supervisor.start_server(_PTY_BACKEND, LOCAL.name)
        except TimeoutError as error:
            raise Unavailable("the PTY host was started but is not watched yet") from error
        if watcher is None:
            raise Unavailable("the PTY host cannot be started here")
        return watcher

    async def _open_pty(self, name: str, command: tuple[str, ...]) -> OpenedTerminal:
        watcher = await self._start_pty_server()
        spawn = Spawn(where="session", place=_PTY_BACKEND, command=command, name=name)
        pane, pid = await watcher.backend.build_control(watcher.server).open_pane(spawn, None)
        watcher.request_listing()
        return OpenedTerminal(server=watcher.key.label, mux_pane=pane, pid=pid)

    async def wait_until_captured(self, terminal: OpenedTerminal) -> PaneId | None:
        return await self.wait_for_pane(terminal, lambda: self._find_captured(terminal))

    async def wait_for_pane(self, terminal: OpenedTerminal, find_pane: Callable[[], PaneId | None]) -> PaneId | None:
        """Have the terminal's server listed until ``find_pane`` finds its pane; None after a timeout."""
        clock, until = self._components.clock, self._components.clock.monotonic() + _CAPTURE_TIMEOUT_S
        if (watcher := self._find_watcher(lambda one: one.key.label == terminal.server)) is not None:
            watcher.request_listing()
        while clock.monotonic() < until:
            if (pane := find_pane()) is not None:
                return pane
            await clock.sleep(_POLL_INTERVAL_S)
        return None

    def _find_captured(self, terminal: OpenedTerminal) -> PaneId | None:
        """Return the pane once the recorder holds its stream."""
        watcher = self._find_watcher(lambda one: one.key.label == terminal.server)
        known = None if watcher is None else watcher.known_panes.get(terminal.mux_pane)
        if watcher is None or known is None or known.facts.pid != terminal.pid:
            return None
        state = watcher.captures.find_pane(terminal.mux_pane)
        epoch = state.epoch if state is not None else None
        if epoch is None or not self._components.recorder.is_stream_open(epoch.id):
            return None
        return known.id

    async def _wait_for_watcher(self, address: str) -> ServerWatcher:
        return await self._wait_for(lambda watcher: watcher.key.address == address, "the tmux server for jobs")

    async def _wait_for(self, is_wanted: Callable[[ServerWatcher], bool], what: str) -> ServerWatcher:
        # A new server is found by the next scan.
        clock, until = self._components.clock, self._components.clock.monotonic() + _SERVER_TIMEOUT_S
        while clock.monotonic() < until:
            watcher = self._find_watcher(is_wanted)
            if watcher is not None and watcher.is_watching:
                return watcher
            await clock.sleep(_POLL_INTERVAL_S)
        raise Unavailable(f"{what} is not watched", hint="`visor doctor` says what is wrong.")

    def _find_watcher(self, is_wanted: Callable[[ServerWatcher], bool]) -> ServerWatcher | None:
        return next(filter(is_wanted, self._components.server_supervisor.watchers.values()), None)
