"""The backend for tmux servers on this machine (`Backend`)."""

import contextlib

from termvisor.backends.backend import Abilities, BackendDependencies
from termvisor.backends.local_terminal import LocalPaneTerminal
from termvisor.backends.pane_control import PaneControl
from termvisor.backends.pane_source import PaneExpected, PaneSource, ReportNews
from termvisor.backends.pane_terminal import PaneTerminal
from termvisor.backends.tmux import job_windows
from termvisor.backends.tmux.pane_control import TmuxPaneControl, build_spawn_command
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.backends.tmux.server_launch import start_server
from termvisor.backends.tmux.server_sockets import (
    is_server_listening,
    list_candidate_sockets,
    list_configured_sockets,
)
from termvisor.backends.tmux.watched_server import TmuxPaneSource
from termvisor.backends.transport import Transport
from termvisor.errors import InternalError, Unsupported
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.model.job import JobSpec
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import AttachPlan
from termvisor.system.inotify import ARRIVAL_EVENTS, FolderChange, Inotify
from termvisor.system.procfs import is_process_running
from termvisor.system.subprocesses import is_installed

_TERMINALS_FOLDER = "/dev/pts"


class TmuxBackend:
    name = "tmux"
    abilities = Abilities()

    def __init__(self, dependencies: BackendDependencies):
        self._dependencies = dependencies
        self._reports: dict[TmuxPaneSource, ReportNews] = {}
        self._terminals: Inotify | None = None

    def explain_unavailable(self) -> str:
        program = self._dependencies.get_settings().tmux_program
        return "" if is_installed(program) else describe_missing_tmux(program)

    async def list_addresses(self, transport: Transport) -> list[str]:
        if transport.target.kind != "local":
            return []
        return list_candidate_sockets(self._dependencies.paths, self._dependencies.get_settings())

    async def list_named_addresses(self, transport: Transport) -> list[str] | None:
        settings = self._dependencies.get_settings()
        if transport.target.kind != "local" or settings.tmux_sockets is None:
            return None
        return list_configured_sockets(settings)

    async def is_listening(self, transport: Transport, address: str) -> bool:
        return is_server_listening(address)

    async def open_server(self, transport: Transport, address: str, report: ReportNews) -> TmuxPaneSource:
        program, count_fork = self._dependencies.get_settings().tmux_program, self._dependencies.count_fork
        plain_client = PlainClient(program, address, count_fork)
        server = await identify_server(plain_client, address, transport.target.name)
        plain_client.server_pid = server.instance.pid
        source = TmuxPaneSource(server, plain_client, program=program, report=report, count_fork=count_fork)
        await source.choose_client()
        source.on_close = self._forget_source
        self._reports[source] = report
        self._watch_terminals()
        return source

    async def start_server_with_pane(
        self, transport: Transport, address: str, spawn: Spawn, gate: str
    ) -> tuple[MuxPaneId, int]:
        program = self._dependencies.get_settings().tmux_program
        if spawn.where != "session":
            raise Unsupported("a new tmux server has no session yet", hint="`--where session` starts one.")
        self._dependencies.count_fork()
        return await start_server(program, address, build_spawn_command(spawn, None, gate))

    def is_server_alive(self, transport: Transport, server: ServerInstance) -> bool | None:
        return is_process_running(server.pid, server.started, server.boot)

    def build_control(self, source: PaneSource) -> PaneControl:
        if not isinstance(source, TmuxPaneSource):
            raise InternalError("the server is not one of tmux")
        return TmuxPaneControl(source)

    def build_terminal(self, source: PaneSource) -> PaneTerminal:
        return LocalPaneTerminal()

    def plan_attach(self, server: ServerInstance, facts: PaneFacts) -> AttachPlan:
        command = ("tmux", "-S", server.socket)
        target = f"{facts.session_id}:{facts.window_id}.{facts.mux_id}"
        return AttachPlan(
            address=server.socket,
            outside=(*command, "attach-session", "-t", target),
            inside=(*command, "switch-client", "-t", target),
        )

    async def start_job_server(self) -> str:
        socket = self._dependencies.paths.job_socket
        if not is_server_listening(socket):
            self._dependencies.count_fork()
        await job_windows.start_job_server(self._dependencies.get_settings().tmux_program, socket)
        return socket

    async def release_job_server(self) -> None:
        program, socket = self._dependencies.get_settings().tmux_program, self._dependencies.paths.job_socket
        await job_windows.release_job_server(program, socket)

    async def open_job_window(
        self, source: PaneSource, name: str, spec: JobSpec, command: tuple[str, ...]
    ) -> tuple[MuxPaneId, int]:
        if not isinstance(source, TmuxPaneSource):
            raise InternalError("the server is not one of tmux")
        is_named = spec.place == "session"
        open_window = job_windows.open_session_window if is_named else job_windows.open_private_window
        return await open_window(source, name, spec, command)

    def _watch_terminals(self) -> None:
        """Let every server be looked at when a terminal is created, instead of at the next poll."""
        if self._terminals is not None:
            return
        # No inotify, or no terminals there: the servers are polled.
        with contextlib.suppress(OSError):
            terminals = Inotify()
            try:
                terminals.watch_folder(_TERMINALS_FOLDER, ARRIVAL_EVENTS, self._note_terminal)
            except OSError:
                terminals.close()
                raise
            self._terminals = terminals

    def _note_terminal(self, _change: FolderChange) -> None:
        for report in self._reports.values():
            report(PaneExpected())

    def _forget_source(self, source: TmuxPaneSource) -> None:
        self._reports.pop(source, None)
        if not self._reports and self._terminals is not None:
            self._terminals.close()
            self._terminals = None


def describe_missing_tmux(program: str) -> str:
    """Return the alert text for a tmux program that is not installed."""
    return (
        f"tmux is missing: program {program!r} not found. Install it (`sudo apt-get install tmux`), or set its path in"
        " tmux_program"
    )
