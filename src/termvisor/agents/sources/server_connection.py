"""Keep a connection to one server of an agent: connect, read its records, reconnect with backoff, report health.

In: records from the server. Out: the same records, redacted. An error of this server does not affect the others.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.server_contract import AgentServer, ServedAgent, ServerDependencies, ServerProvider
from termvisor.agents.sources.json_redaction import redact_json_text
from termvisor.agents.sources.reader_health import SourceHealthTracker
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.agent.evidence_source import SourceHealth
from termvisor.system.backoff import Backoff
from termvisor.system.listening_ports import find_listening_ports

LOOKUP_INTERVAL_S, MAX_LOOKUP_INTERVAL_S = 2.0, 10.0
"""Seconds between two lookups of an absent server: at first, and at most while no agent starts or exits."""
_INTERVAL_GROWTH = 1.5
RecordHandler = Callable[[list[SourceRecord]], Awaitable[None]]
log = get_logger("agents")


class AgentServerConnection:
    """``list_agents`` returns the agents that use the server in watched panes, ``list_unwatched_agents`` those outside;
    ``on_records`` returns when the records are stored."""

    def __init__(
        self,
        agent: str,
        location: str,
        provider: ServerProvider,
        *,
        list_agents: Callable[[], Sequence[ServedAgent]],
        list_unwatched_agents: Callable[[], Awaitable[Sequence[ServedAgent]]],
        on_records: RecordHandler,
        clock: Clock,
    ):
        self._on_records, self._clock = on_records, clock
        self._backoff, self._lookup_interval_s = Backoff(), LOOKUP_INTERVAL_S
        self._lag_s: float | None = None
        dependencies = ServerDependencies(
            clock=clock,
            store_records=self._deliver_records,
            report_health=self._handle_connected,
            list_agents=list_agents,
            list_unwatched_agents=list_unwatched_agents,
            list_ports=_find_listening_ports,
        )
        self.server: AgentServer = provider.create_server(location, dependencies)
        self._health = SourceHealthTracker(agent, provider.source, self.server.location)

    @property
    def health(self) -> SourceHealth:
        return replace(self._health.health, lag=self._lag_s)

    def refresh(self) -> None:
        """Look for the server again soon: an agent that uses it started or exited."""
        self._lookup_interval_s = LOOKUP_INTERVAL_S
        self.server.refresh()

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._clock.sleep(await self._connect_once(group))

    async def _connect_once(self, group: asyncio.TaskGroup) -> float:
        """Run one connection to its end and return the seconds to wait before the next."""
        try:
            if reason := await self.server.find_absence_reason():
                self._health.record_scan(is_absent=True, dropped=0, detail=reason)
                pause = self._lookup_interval_s
                self._lookup_interval_s = min(MAX_LOOKUP_INTERVAL_S, pause * _INTERVAL_GROWTH)
                return pause
            self._lookup_interval_s = LOOKUP_INTERVAL_S
            await self.server.run_connection(group)
        except Exception as error:  # plug-in boundary: an error of one server must not stop the others
            self._handle_error(error)
        try:
            await self._deliver_records(self.server.build_lost_records())
        except Exception as error:  # as above
            self._handle_error(error)
        now = self._clock.monotonic()
        return self._backoff.record_failure(now) - now

    def _handle_error(self, error: Exception) -> None:
        reason = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s", self.server.location, reason)
        self._health.record_error(reason)

    def _handle_connected(self, detail: str, lag: float | None) -> None:
        self._backoff.record_success()
        self._lag_s = lag
        self._health.record_scan(is_absent=False, dropped=0, detail=detail)

    async def _deliver_records(self, records: Sequence[SourceRecord]) -> None:
        if records:
            await self._on_records([replace(record, text=redact_json_text(record.text)) for record in records])
            self._health.record_delivery(len(records), self._clock.now())


async def _find_listening_ports(process: ProcessInfo) -> Sequence[int]:
    return await asyncio.to_thread(find_listening_ports, process.pid, process.pid_started)
