"""Own PTYs as a backend: one server, the PTY host, which is started with its first program."""

import os
import sys

from termvisor.backends.backend import Abilities, BackendDependencies
from termvisor.backends.local_terminal import LocalPaneTerminal
from termvisor.backends.pane_control import PaneControl
from termvisor.backends.pane_source import PaneSource, ReportNews
from termvisor.backends.pane_terminal import PaneTerminal
from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.backends.pty.job_programs import PtyJobPrograms
from termvisor.backends.pty.model_factory import build_model, is_screenless
from termvisor.backends.pty.pane_control import PtyPaneControl
from termvisor.backends.pty.pane_source import PtyServer
from termvisor.backends.transport import Transport
from termvisor.errors import InternalError, MuxError, Unsupported, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import AttachPlan
from termvisor.recorder.sockets import is_recorder_listening
from termvisor.settings import get_environment
from termvisor.system import procfs

log = get_logger("backends.pty")


class PtyBackend:
    """Terminals of the PTY host of this instance. They exist on this machine only."""

    name = "pty"
    abilities = Abilities(titles=False, activates=False, is_default_place=False, attach_passes_gate=False)

    def __init__(self, dependencies: BackendDependencies):
        self._paths, self._get_settings = dependencies.paths, dependencies.get_settings
        self._build_renderer = dependencies.build_renderer
        self.client = PtyHostClient(dependencies.paths)
        """The connection to the host. Jobs and spawned panes share it."""
        self.jobs = PtyJobPrograms(dependencies.paths, self.client)
        self._server: PtyServer | None = None

    def explain_unavailable(self) -> str:
        return ""

    async def list_addresses(self, transport: Transport) -> list[str]:
        return [self._paths.pty_host_socket] if transport.target.kind == "local" else []

    async def list_named_addresses(self, transport: Transport) -> list[str] | None:
        return None

    async def is_listening(self, transport: Transport, address: str) -> bool:
        return os.path.exists(address) and is_recorder_listening(address)

    async def open_server(self, transport: Transport, address: str, report: ReportNews) -> PaneSource:
        try:
            await self.client.start(may_spawn=False)
        except VisorError as error:
            raise MuxError(str(error)) from error
        build_renderer = self._build_renderer if is_screenless() else lambda: None
        self._server = PtyServer(self._paths, self.client, build_model, report, build_renderer)
        return self._server

    async def start_server(self, transport: Transport) -> bool:
        if transport.target.kind != "local":
            return False
        await self.client.start()
        return True

    async def release_server(self, *, upgrades: bool) -> None:
        if not self.client.is_connected:
            return
        try:
            if upgrades:
                await self.client.reexec()
            else:
                # Refused while programs run: they outlive the daemon.
                await self.client.quit()
        except VisorError as error:
            log.error("cannot %s the PTY host: %s", "upgrade" if upgrades else "stop", error)
        self.client.detach()

    async def start_server_with_pane(
        self, transport: Transport, address: str, spawn: Spawn, gate: str
    ) -> tuple[MuxPaneId, int]:
        raise Unsupported("the host of panes without a multiplexer is started by the daemon")

    def is_server_alive(self, transport: Transport, server: ServerInstance) -> bool | None:
        if procfs.is_process_running(server.pid, server.started, server.boot):
            return True
        # Programs outlive their host and are captured until they end. A new host takes its place.
        own = self._server
        return own is not None and own.instance == server and (self.client.is_connected or own.has_programs)

    def build_control(self, source: PaneSource) -> PaneControl:
        if not isinstance(source, PtyServer):
            raise InternalError("the source belongs to another backend")
        return PtyPaneControl(source, get_environment())

    def build_terminal(self, source: PaneSource) -> PaneTerminal:
        return LocalPaneTerminal()

    def plan_attach(self, server: ServerInstance, facts: PaneFacts) -> AttachPlan:
        """Return the command of our own viewer. Raises MuxError if the pane is gone."""
        if self._server is None:
            raise MuxError("the PTY host is not running")
        settings = self._get_settings()
        path = self._server.attachments.prepare(facts.mux_id, settings.attach_detach_key, settings.attach_size)
        command = (sys.executable, "-P", "-m", "termvisor.backends.pty.viewer", path)
        return AttachPlan(address=server.socket, outside=command, inside=command)
