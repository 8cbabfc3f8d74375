"""Keep one connection to each agent's own server, as long as an agent process in a pane uses that server.

Adapters declare their servers in a module `server_client`, which is loaded with the first process of that agent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters import server_contract
from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.sources.process_scanner import UnwatchedAgentFinder
from termvisor.agents.sources.record_delivery import RecordDelivery, RecordHandler
from termvisor.clock import Clock
from termvisor.log import get_logger
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.evidence import SourceHealth
from termvisor.model.ids import RuntimeId
from termvisor.system.listening_ports import find_listening_ports
from termvisor.system.process_lifetime import compute_start_instant
from termvisor.system.retry import Backoff

# Seconds between lookups of an absent server: initially, and at most while no agent starts or exits.
LOOKUP_INTERVAL_S, MAX_LOOKUP_INTERVAL_S = 2.0, 10.0
_INTERVAL_GROWTH = 1.5
ServerAddress = tuple[str, str]
"""The name of an agent and the address of its server."""
log = get_logger("agents")


class AgentServerConnection:
    """One server connection. ``list_agents`` returns its agents in watched panes, ``list_unwatched_agents`` others;
    ``on_records`` returns when the records are stored."""

    def __init__(
        self,
        agent: str,
        location: str,
        provider: server_contract.ServerProvider,
        *,
        list_agents: Callable[[], Sequence[server_contract.ServedAgent]],
        list_unwatched_agents: Callable[[], Awaitable[Sequence[server_contract.ServedAgent]]],
        on_records: RecordHandler,
        clock: Clock,
    ):
        self._clock = clock
        self._backoff, self._lookup_interval_s = Backoff(), LOOKUP_INTERVAL_S
        self._lag_s: float | None = None
        dependencies = server_contract.ServerDependencies(
            clock=clock,
            store_records=self._deliver_records,
            report_health=self._handle_connected,
            list_agents=list_agents,
            list_unwatched_agents=list_unwatched_agents,
            list_ports=_find_listening_ports,
        )
        self.server: server_contract.AgentServer = provider.create_server(location, dependencies)
        self._delivery = RecordDelivery(agent, provider.source, self.server.location, on_records, clock)

    @property
    def health(self) -> SourceHealth:
        return replace(self._delivery.health, lag=self._lag_s)

    def refresh(self) -> None:
        """Look for the server again soon, because an agent that uses it started or exited."""
        self._lookup_interval_s = LOOKUP_INTERVAL_S
        self.server.refresh()

    async def run(self) -> None:
        """Maintain the connection until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._clock.sleep(await self._connect_once(group))

    async def _connect_once(self, group: asyncio.TaskGroup) -> float:
        """Run one connection until it ends, and return the seconds to wait before the next."""
        try:
            if reason := await self.server.find_absence_reason():
                self._delivery.record_scan(is_absent=True, detail=reason)
                pause = self._lookup_interval_s
                self._lookup_interval_s = min(MAX_LOOKUP_INTERVAL_S, pause * _INTERVAL_GROWTH)
                return pause
            self._lookup_interval_s = LOOKUP_INTERVAL_S
            await self.server.run_connection(group)
        except Exception as error:  # plug-in boundary: an error of one server must not stop the others
            self._delivery.record_error(error)
        try:
            # Without these records, sessions of a server that is gone would keep their last state.
            await self._deliver_records(self.server.build_lost_records())
        except Exception as error:  # as above
            self._delivery.record_error(error)
        now = self._clock.monotonic()
        return self._backoff.record_failure(now) - now

    async def _deliver_records(self, records: Sequence[SourceRecord]) -> None:
        await self._delivery.deliver_records(records)

    def _handle_connected(self, detail: str, lag: float | None) -> None:
        self._backoff.record_success()
        self._lag_s = lag
        self._delivery.record_scan(is_absent=False, detail=detail)


class AgentServers:
    """All connections. ``on_records`` returns when records are stored; ``find_provider`` may return None."""

    def __init__(
        self,
        on_records: RecordHandler,
        clock: Clock,
        find_provider: Callable[[str], server_contract.ServerProvider | None],
        unwatched_agents: UnwatchedAgentFinder | None = None,
    ):
        self._on_records, self._clock = on_records, clock
        self._find_provider, self._unwatched_agents = find_provider, unwatched_agents
        self._followed_ids: set[RuntimeId] = set()
        self._served_processes: dict[RuntimeId, tuple[ServerAddress, server_contract.ServedAgent]] = {}
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
        self._followed_ids.add(agent_process.id)
        address = self._find_address(agent_process.agent, process)
        provider = self._find_provider(agent_process.agent) if address is not None else None
        if address is None or provider is None:
            return
        served = server_contract.ServedAgent(process, agent_process.started_at)
        self._served_processes[agent_process.id] = address, served
        if address not in self.connections:
            self.connections[address] = AgentServerConnection(
                *address,
                provider,
                list_agents=lambda: self._list_served_agents(address),
                list_unwatched_agents=lambda: self._list_unwatched_agents(address),
                on_records=self._on_records,
                clock=self._clock,
            )
            self._start_connection(address)
        self.connections[address].refresh()

    def leave(self, agent_process: AgentProcess) -> None:
        self._followed_ids.discard(agent_process.id)
        address, _ = self._served_processes.pop(agent_process.id, (None, None))
        if address is None:
            return
        if self._list_served_agents(address):
            self.connections[address].refresh()
            return
        del self.connections[address]
        if task := self._tasks.pop(address, None):
            task.cancel()

    def has_server(self, agent_process: AgentProcess) -> bool:
        """Return True if the agent may have a server, even if it is not connected or found yet."""
        if agent_process.id in self._followed_ids or not agent_process.is_process_seen:
            return agent_process.id in self._served_processes
        # After a restart, the agent is known before its process is scanned.
        return self._find_provider(agent_process.agent) is not None

    def find_session_control(self, agent_process: AgentProcess) -> server_contract.SessionControl | None:
        """Return control of the session that this agent shows; None if the server does not prove which one it is."""
        if agent_process.id not in self._served_processes:
            return None
        address, served = self._served_processes[agent_process.id]
        return self.connections[address].server.find_session_control(served.process)

    def collect_health(self) -> list[SourceHealth]:
        return [connection.health for connection in self.connections.values()]

    def _start_connection(self, address: ServerAddress) -> None:
        if self._group is not None:
            self._tasks[address] = self._group.create_task(self.connections[address].run())

    def _find_address(self, agent: str, process: ProcessInfo) -> ServerAddress | None:
        provider = self._find_provider(agent)
        try:
            key = provider.get_server_key(process) if provider is not None else ""
        except Exception as error:  # third-party adapters may raise anything
            log.error("the adapter of %s failed to find its server: %s: %s", agent, type(error).__name__, error)
            return None
        return (agent, key) if key else None

    async def _list_unwatched_agents(self, address: ServerAddress) -> Sequence[server_contract.ServedAgent]:
        """Return the agents that use this server outside watched panes."""
        if self._unwatched_agents is None:
            return []
        agent, now = address[0], self._clock.now()
        watched_pids = [served.process.pid for _, served in self._served_processes.values()]
        return [
            server_contract.ServedAgent(process, compute_start_instant(process.pid_started, now), is_unwatched=True)
            for process in await self._unwatched_agents.find_unwatched(agent, watched_pids)
            if self._find_address(agent, process) == address
        ]

    def _list_served_agents(self, address: ServerAddress) -> list[server_contract.ServedAgent]:
        return [served for used, served in self._served_processes.values() if used == address]


async def _find_listening_ports(process: ProcessInfo) -> Sequence[int]:
    return await asyncio.to_thread(find_listening_ports, process.pid, process.pid_started)
