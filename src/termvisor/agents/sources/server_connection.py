"""Somebody who listens to one server of an agent: connects, and connects again, and says how that goes.

What comes in: what the server says, as records. What goes out: the same, without secrets, to be stored. Whatever is
wrong with this server, nobody else is disturbed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.server_contract import AgentServer, ServedAgent, ServerDependencies, ServerProvider
from termvisor.agents.sources.json_redaction import redact_json_text
from termvisor.agents.sources.reader_health import SourceHealthTracker
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.agent.session import SourceHealth
from termvisor.system.backoff import Backoff
from termvisor.system.listening_ports import find_listening_ports

LOOKUP_INTERVAL_S, MAX_LOOKUP_INTERVAL_S = 2.0, 10.0
"""Seconds between two looks for a server that is not there: at first, and at most while nobody comes or goes."""
_INTERVAL_GROWTH = 1.5
RecordHandler = Callable[[list[SourceRecord]], Awaitable[None]]
log = get_logger("agents")


class ServerConnectionDependencies(Struct, frozen=True, kw_only=True):
    """``faces`` use the server in panes of ours, ``others`` elsewhere; ``heard`` returns when records are stored."""

    list_pane_agents: Callable[[], Sequence[ServedAgent]]
    list_other_agents: Callable[[], Awaitable[Sequence[ServedAgent]]]
    on_records: RecordHandler
    clock: Clock


class AgentServerConnection:
    def __init__(self, agent: str, location: str, host: ServerProvider, dependencies: ServerConnectionDependencies):
        self._on_records, self._clock = dependencies.on_records, dependencies.clock
        self._backoff, self._lookup_interval_s = Backoff(), LOOKUP_INTERVAL_S
        self._lag_s: float | None = None
        means = ServerDependencies(
            clock=dependencies.clock,
            store_records=self._deliver_records,
            report_health=self._handle_connected,
            list_agents=dependencies.list_pane_agents,
            list_unwatched_agents=dependencies.list_other_agents,
            list_ports=_find_listening_ports,
        )
        self.server: AgentServer = host.create_server(location, means)
        self._health = SourceHealthTracker(agent, host.source, self.server.location)

    @property
    def health(self) -> SourceHealth:
        return replace(self._health.health, lag=self._lag_s)

    def refresh(self) -> None:
        """Somebody came, or left."""
        self._lookup_interval_s = LOOKUP_INTERVAL_S
        self.server.refresh()

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._clock.sleep(await self._connect_once(group))

    async def _connect_once(self, group: asyncio.TaskGroup) -> float:
        """One connection, from its beginning to its end. The seconds to wait before the next."""
        try:
            if why := await self.server.find_absence_reason():
                self._health.record_scan(is_absent=True, dropped=0, detail=why)
                pause, self._lookup_interval_s = (
                    self._lookup_interval_s,
                    min(MAX_LOOKUP_INTERVAL_S, self._lookup_interval_s * _INTERVAL_GROWTH),
                )
                return pause
            self._lookup_interval_s = LOOKUP_INTERVAL_S
            await self.server.run_connection(group)
        except Exception as error:  # whatever is wrong with this one, the others go on
            self._handle_error(error)
        try:
            await self._deliver_records(self.server.build_lost_records())
        except Exception as error:  # as above
            self._handle_error(error)
        now = self._clock.monotonic()
        return self._backoff.record_failure(now) - now

    def _handle_error(self, error: Exception) -> None:
        why = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s", self.server.location, why)
        self._health.record_error(why)

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
