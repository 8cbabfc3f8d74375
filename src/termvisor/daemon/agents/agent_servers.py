"""The agents' own servers: each is listened to while an agent lives that uses it, and only so long.

Which agent has one, the module `served` beside its adapter says. It is loaded with the first process of that agent;
most daemons never need any.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.server_contract import ServedAgent, ServerProvider, SessionControl
from termvisor.agents.sources.server_connection import (
    AgentServerConnection,
    RecordHandler,
    ServerConnectionDependencies,
)
from termvisor.agents.sources.unwatched_agents import UnwatchedAgentFinder
from termvisor.clock import Clock
from termvisor.log import get_logger
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.session import SourceHealth
from termvisor.model.ids import RuntimeId
from termvisor.system.foreground_process import compute_start_instant

ServerAddress = tuple[str, str]
"""An agent, and where its server is."""
FindServerProvider = Callable[[str], ServerProvider | None]
log = get_logger("agents")


class _ServedProcess(Struct, frozen=True):
    address: ServerAddress
    agent: ServedAgent


class AgentServers:
    """``heard`` returns when the records are stored; ``host_of`` names an agent's servers, if it has any."""

    def __init__(
        self,
        on_records: RecordHandler,
        clock: Clock,
        find_provider: FindServerProvider,
        unwatched_agents: UnwatchedAgentFinder | None = None,
    ):
        self._on_records, self._clock, self._find_provider, self._unwatched_agents = (
            on_records,
            clock,
            find_provider,
            unwatched_agents,
        )
        self._served_processes: dict[RuntimeId, _ServedProcess] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[ServerAddress, asyncio.Task[None]] = {}
        self.connections: dict[ServerAddress, AgentServerConnection] = {}

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for place in self.connections:
                self._start_connection(place)
            await asyncio.Event().wait()

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        place = self._find_address(agent_process.agent, process)
        host = self._find_provider(agent_process.agent) if place is not None else None
        if place is None or host is None:
            return
        self._served_processes[agent_process.id] = _ServedProcess(place, ServedAgent(process, agent_process.started_at))
        if place not in self.connections:
            self.connections[place] = AgentServerConnection(*place, host, self._build_dependencies(place))
            self._start_connection(place)
        self.connections[place].refresh()

    def leave(self, agent_process: AgentProcess) -> None:
        guest = self._served_processes.pop(agent_process.id, None)
        if guest is None:
            return
        if self._list_served_agents(guest.address):
            self.connections[guest.address].refresh()
            return
        del self.connections[guest.address]
        if task := self._tasks.pop(guest.address, None):
            task.cancel()

    def has_server(self, agent_process: AgentProcess) -> bool:
        """Whether a server is expected to know it, though it may not be heard yet."""
        return agent_process.id in self._served_processes

    def find_session_control(self, agent_process: AgentProcess) -> SessionControl | None:
        """A way to speak in the conversation that this agent shows; None where that is not proven right now."""
        guest = self._served_processes.get(agent_process.id)
        return (
            None if guest is None else self.connections[guest.address].server.find_session_control(guest.agent.process)
        )

    def collect_health(self) -> list[SourceHealth]:
        return [ear.health for ear in self.connections.values()]

    def _start_connection(self, address: ServerAddress) -> None:
        if self._group is not None:
            self._tasks[address] = self._group.create_task(self.connections[address].run())

    def _build_dependencies(self, address: ServerAddress) -> ServerConnectionDependencies:
        return ServerConnectionDependencies(
            list_pane_agents=lambda: self._list_served_agents(address),
            list_other_agents=lambda: self._list_unwatched_agents(address),
            on_records=self._on_records,
            clock=self._clock,
        )

    def _find_address(self, agent: str, process: ProcessInfo) -> ServerAddress | None:
        host = self._find_provider(agent)
        try:
            where = host.get_server_key(process) if host is not None else ""
        except Exception as error:  # an adapter may be anybody's
            log.error("where the server of %s is was not told: %s: %s", agent, type(error).__name__, error)
            return None
        return (agent, where) if where else None

    async def _list_unwatched_agents(self, address: ServerAddress) -> Sequence[ServedAgent]:
        """Those of the same place that live in no pane of ours."""
        if self._unwatched_agents is None:
            return []
        agent, now = address[0], self._clock.now()
        found = await self._unwatched_agents.find_unwatched(
            agent, [one.agent.process.pid for one in self._served_processes.values()]
        )
        same = [one for one in found if self._find_address(agent, one) == address]
        return [ServedAgent(one, compute_start_instant(one.pid_started, now), is_unwatched=True) for one in same]

    def _list_served_agents(self, address: ServerAddress) -> list[ServedAgent]:
        return [guest.agent for guest in self._served_processes.values() if guest.address == address]
