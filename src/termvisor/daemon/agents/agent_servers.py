"""Keep one connection to each agent's own server, as long as an agent process in a pane uses that server.

Adapters declare their servers in a module `server_client`, which is loaded with the first process of that agent.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.server_contract import ServedAgent, ServerProvider, SessionControl
from termvisor.agents.sources.server_connection import AgentServerConnection, RecordHandler
from termvisor.agents.sources.unwatched_agents import UnwatchedAgentFinder
from termvisor.clock import Clock
from termvisor.log import get_logger
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.evidence_source import SourceHealth
from termvisor.model.ids import RuntimeId
from termvisor.system.process_start import compute_start_instant

ServerAddress = tuple[str, str]
"""The name of an agent and the address of its server."""
FindServerProvider = Callable[[str], ServerProvider | None]
log = get_logger("agents")


class _ServedProcess(Struct, frozen=True):
    address: ServerAddress
    agent: ServedAgent


class AgentServers:
    """``on_records`` returns when the records are stored; ``find_provider`` returns None if an agent has no server."""

    def __init__(
        self,
        on_records: RecordHandler,
        clock: Clock,
        find_provider: FindServerProvider,
        unwatched_agents: UnwatchedAgentFinder | None = None,
    ):
        self._on_records, self._clock = on_records, clock
        self._find_provider, self._unwatched_agents = find_provider, unwatched_agents
        self._served_processes: dict[RuntimeId, _ServedProcess] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[ServerAddress, asyncio.Task[None]] = {}
        self.connections: dict[ServerAddress, AgentServerConnection] = {}

    async def run(self) -> None:
        """Run the connections until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for address in self.connections:
                self._start_connection(address)
            await asyncio.Event().wait()

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        address = self._find_address(agent_process.agent, process)
        provider = self._find_provider(agent_process.agent) if address is not None else None
        if address is None or provider is None:
            return
        served = ServedAgent(process, agent_process.started_at)
        self._served_processes[agent_process.id] = _ServedProcess(address, served)
        if address not in self.connections:
            self.connections[address] = self._build_connection(address, provider)
            self._start_connection(address)
        self.connections[address].refresh()

    def leave(self, agent_process: AgentProcess) -> None:
        served = self._served_processes.pop(agent_process.id, None)
        if served is None:
            return
        if self._list_served_agents(served.address):
            self.connections[served.address].refresh()
            return
        del self.connections[served.address]
        if task := self._tasks.pop(served.address, None):
            task.cancel()

    def has_server(self, agent_process: AgentProcess) -> bool:
        """Return True if the agent has a server, even if it is not connected yet."""
        return agent_process.id in self._served_processes

    def find_session_control(self, agent_process: AgentProcess) -> SessionControl | None:
        """Return control of the session that this agent shows; None if the server does not prove which one it is."""
        served = self._served_processes.get(agent_process.id)
        if served is None:
            return None
        return self.connections[served.address].server.find_session_control(served.agent.process)

    def collect_health(self) -> list[SourceHealth]:
        return [connection.health for connection in self.connections.values()]

    def _start_connection(self, address: ServerAddress) -> None:
        if self._group is not None:
            self._tasks[address] = self._group.create_task(self.connections[address].run())

    def _build_connection(self, address: ServerAddress, provider: ServerProvider) -> AgentServerConnection:
        return AgentServerConnection(
            *address,
            provider,
            list_agents=lambda: self._list_served_agents(address),
            list_unwatched_agents=lambda: self._list_unwatched_agents(address),
            on_records=self._on_records,
            clock=self._clock,
        )

    def _find_address(self, agent: str, process: ProcessInfo) -> ServerAddress | None:
        provider = self._find_provider(agent)
        try:
            key = provider.get_server_key(process) if provider is not None else ""
        except Exception as error:  # third-party adapters may raise anything
            log.error("the adapter of %s failed to find its server: %s: %s", agent, type(error).__name__, error)
            return None
        return (agent, key) if key else None

    async def _list_unwatched_agents(self, address: ServerAddress) -> Sequence[ServedAgent]:
        """Return the agents of the same server that run outside of watched panes."""
        if self._unwatched_agents is None:
            return []
        agent, now = address[0], self._clock.now()
        watched_pids = [served.agent.process.pid for served in self._served_processes.values()]
        return [
            ServedAgent(process, compute_start_instant(process.pid_started, now), is_unwatched=True)
            for process in await self._unwatched_agents.find_unwatched(agent, watched_pids)
            if self._find_address(agent, process) == address
        ]

    def _list_served_agents(self, address: ServerAddress) -> list[ServedAgent]:
        return [served.agent for served in self._served_processes.values() if served.address == address]
