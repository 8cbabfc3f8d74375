"""Own PTYs as a backend: one server, the PTY host, which is started with its first program."""

import os

from termvisor.backends.backend import Abilities, BackendDependencies
from termvisor.backends.local_terminal import LocalPaneTerminal
from termvisor.backends.pane_control import PaneControl
from termvisor.backends.pane_source import PaneSource, ReportNews
from termvisor.backends.pane_terminal import PaneTerminal
from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.backends.pty.model_factory import build_model
from termvisor.backends.pty.pane_control import PtyPaneControl
from termvisor.backends.pty.pane_source import PtyServer
from termvisor.backends.transport import Transport
from termvisor.errors import InternalError, MuxError, Unsupported, VisorError
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import AttachPlan
from termvisor.recorder.sockets import is_recorder_listening
from termvisor.settings import get_environment
from termvisor.system import procfs


class PtyBackend:
    """Terminals of the PTY host of this instance. They exist on this machine only."""

    name = "pty"
    abilities = Abilities(titles=False, activates=False)

    def __init__(self, dependencies: BackendDependencies):
        self._paths = dependencies.paths
        self.client = PtyHostClient(dependencies.paths)
        """The connection to the host. Jobs and spawned panes share it."""
        self._server: PtyServer | None = None

    def explain_unavailable(self) -> str:
        return ""

    async def list_addresses(self, transport: Transport) -> list[str]:
        return [self._paths.pty_host_socket] if transport.target.kind == "local" else []

    async def list_named_addresses(self, transport: Transport) -> list[str]:
        return []

    async def is_listening(self, transport: Transport, address: str) -> bool:
        return os.path.exists(address) and is_recorder_listening(address)

    async def open_server(self, transport: Transport, address: str, report: ReportNews) -> PaneSource:
        try:
            await self.client.start(may_spawn=False)
        except VisorError as error:
            raise MuxError(str(error)) from error
        self._server = PtyServer(self._paths, self.client, build_model, report)
        return self._server

    async def start_host(self) -> None:
        """Start the host unless one is running. Raises Unavailable."""
        await self.client.start()

    async def start_server(self, transport: Transport, address: str, spawn: Spawn, gate: str) -> tuple[MuxPaneId, int]:
        raise Unsupported("the host of panes without a multiplexer is started by the daemon")

    def is_server_alive(self, transport: Transport, server: ServerInstance) -> bool | None:
        if procfs.read_start_time(server.pid) == server.started:
            return True
        # Programs outlive their host, and are captured until they end.
        return self._server is not None and self._server.instance == server and self._server.has_programs

    def build_control(self, source: PaneSource) -> PaneControl:
        if not isinstance(source, PtyServer):
            raise InternalError("the source belongs to another backend")
        return PtyPaneControl(source, get_environment())

    def build_terminal(self, source: PaneSource) -> PaneTerminal:
        return LocalPaneTerminal()

    def plan_attach(self, server: ServerInstance, facts: PaneFacts) -> AttachPlan:
        """Return an empty command: our own client attaches."""
        return AttachPlan(address=server.socket)


def build_pty_backend(dependencies: BackendDependencies) -> PtyBackend:
    return PtyBackend(dependencies)
