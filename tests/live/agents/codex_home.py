"""Real Codex processes of one home: several panes, their shared server, and a listener on that server."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.codex import ADAPTER, server_client
from termvisor.agents.adapters.codex.server_client.server import AppServer
from termvisor.agents.adapters.server_contract import ServedAgent
from termvisor.agents.sources.agent_servers import AgentServerConnection
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.clock import SystemClock
from termvisor.system.process_lifetime import compute_start_instant
from termvisor.testing.leftover_processes import kill_processes_of
from termvisor.testing.private_tmux import PrivateTmux
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.agent_programs import CODEX, AgentFolders
from tests.live.agents.hook_setup import SPOOL_PATH, build_hook_command
from tests.live.polling import wait_until

READY_TEXT = "Ask Codex"
TURN_HOOKS = ("SessionStart", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "Stop", "Interrupt")
HOOK_EVENTS = (*TURN_HOOKS, "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionEnd")
WITHOUT_SERVER_ARGS = ("--disable", "daemon_auto_start")
T = TypeVar("T")


@dataclass(frozen=True)
class CodexFolders(AgentFolders):
    """A working folder in the shared home."""

    name: str = "work"

    @property
    def cwd(self) -> Path:
        return self.folder / self.name


class CodexPane(AgentPane):
    @property
    def output(self) -> Path:
        """The output file, without the percent sign of the pane id, which tmux would expand as a time format."""
        return self.place.folder / f"output{self.pane[1:]}"


def prepare_home(place: AgentFolders) -> None:
    """Prepare a home whose hooks and notify program append one line each to the spool file."""
    CODEX.prepare(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    place.write_home_file(
        ".codex/hooks.json",
        {
            "hooks": {
                name: [{"hooks": [{"type": "command", "command": build_hook_command(place, "codex", name)}]}]
                for name in HOOK_EVENTS
            }
        },
    )
    notify = place.folder / "bin" / "told"
    notify.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" >> '{place.folder / SPOOL_PATH}.notify'\n")
    notify.chmod(0o755)
    config = place.home / ".codex/config.toml"
    config.write_text(f'notify = ["{notify}"]\n{config.read_text()}')


class ServerListener:
    """A connection to an `AppServer` on an event loop in its own thread."""

    def __init__(self, home: Path, faces: Any):
        self.records: list[SourceRecord] = []
        self._loop = asyncio.new_event_loop()
        self.connection = AgentServerConnection(
            "codex",
            str(home),
            server_client,
            list_agents=faces,
            list_unwatched_agents=self._list_no_agents,
            on_records=self._store_records,
            clock=SystemClock(),
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def run_coroutine(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(20)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(10)

    async def _store_records(self, records: list[SourceRecord]) -> None:
        self.records += records

    async def _list_no_agents(self) -> list[ServedAgent]:
        return []

    def _run(self) -> None:
        self._task = self._loop.create_task(self.connection.run())
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()


@dataclass
class CodexHome:
    """A Codex home with its panes."""

    tmux: PrivateTmux
    folder: Path
    model: str
    panes: list[AgentPane] = field(default_factory=list)
    _served_agents: list[ServedAgent] = field(default_factory=list)
    _processes: PaneProcessScanner = field(default_factory=lambda: PaneProcessScanner(ADAPTER.env_names))

    def __post_init__(self) -> None:
        prepare_home(CodexFolders(self.folder, self.model))
        self.listener = ServerListener(self.home, self.list_served_agents)

    @property
    def home(self) -> Path:
        return self.folder / "home" / ".codex"

    @property
    def server(self) -> AppServer:
        server = self.listener.connection.server
        assert isinstance(server, AppServer)
        return server

    def open_pane(self, name: str, *words: str, shows: str = READY_TEXT) -> AgentPane:
        """Start another Codex in the folder of that name."""
        folders = CodexFolders(self.folder, self.model, name)
        folders.cwd.mkdir(exist_ok=True)
        agent_pane = CodexPane(self.tmux, folders, CODEX)
        agent_pane.start(shows, *words)
        self.panes.append(agent_pane)
        self.refresh()
        return agent_pane

    def close_pane(self, agent_pane: AgentPane) -> None:
        self.panes.remove(agent_pane)
        self.tmux("kill-pane", "-t", agent_pane.pane)
        self.refresh()

    def find_process(self, agent_pane: AgentPane) -> ProcessInfo | None:
        first = int(self.tmux.read_format(agent_pane.pane, "#{pane_pid}"))
        return ADAPTER.find_process(self._processes.scan_sync({agent_pane.pane: first})[agent_pane.pane])

    def list_served_agents(self) -> list[ServedAgent]:
        return self._served_agents

    def refresh(self) -> None:
        """Update the running agents and the threads."""
        now = SystemClock().now()
        living = [process for agent_pane in self.panes if (process := self.find_process(agent_pane)) is not None]
        self._served_agents = [
            ServedAgent(process, compute_start_instant(process.pid_started, now)) for process in living
        ]
        self.listener.run_coroutine(self._refresh_server())

    async def _refresh_server(self) -> None:
        self.server.refresh()

    def wait_connected(self) -> None:
        wait_until(lambda: self.listener.connection.health.status == "well", timeout_s=60)

    def reap(self) -> None:
        """Kill the server and its updater, which outlive every pane."""
        self.listener.close()
        for agent_pane in self.panes:
            self.tmux("kill-pane", "-t", agent_pane.pane)
        kill_processes_of(str(self.folder))


@contextlib.contextmanager
def open_codex_home(tmux: PrivateTmux, folder: Path, model: str) -> Iterator[CodexHome]:
    one = CodexHome(tmux, folder, model)
    try:
        yield one
    finally:
        one.reap()
