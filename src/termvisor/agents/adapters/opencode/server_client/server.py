"""Connect to the HTTP server of one opencode process and turn its events into records.

This client only observes: it receives events, and fetches lists initially and every minute. It answers only for the
gate. The port must provably belong to the process (see `system.listening_ports`).
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.json_access import NS_PER_MS, parse_json_object
from termvisor.agents.adapters.opencode.adapter import find_requested_port
from termvisor.agents.adapters.opencode.server_client.http import HttpResponse, open_event_stream, send_request
from termvisor.agents.adapters.opencode.server_client.session_control import OpencodeSessionControl
from termvisor.agents.adapters.opencode.server_events import OpencodeEvent, OpencodeEventRelay, OpencodeServerState
from termvisor.agents.adapters.server_base import ObservingServer, build_not_connected_error, filter_objects
from termvisor.agents.adapters.server_contract import AgentServer, ServedAgent, ServerDependencies
from termvisor.clock import NS
from termvisor.errors import Unavailable
from termvisor.model.agent.signal import ProcessHint

source = "server"
# The server sends a heartbeat every 10 s; after this silence the connection counts as lost.
SILENCE_TIMEOUT_S = 30.0
LIST_INTERVAL_S = 60.0
# If the lists show an end that no event has reported, they are fetched again after this delay to confirm it.
CONFIRM_DELAY_S = 2.0
_PAGE_SIZE = 1000
_FIRST_PORT_CHECK_S, _MAX_PORT_CHECK_S = 2.0, 60.0
_NO_PORT_REASON = "opencode listens on no port; start it with `--port 4096` (any free port) to observe and answer it"
_SEVERAL_PORTS_REASON = "opencode listens on several ports; name the one of its server with `--port`"


def get_server_key(process: ProcessInfo) -> str:
    return f"process {process.pid}" if process.pid else ""


def create_server(server_key: str, dependencies: ServerDependencies) -> AgentServer:
    return EventServer(server_key, dependencies)


class EventServer(ObservingServer[str]):
    """The server of one opencode process."""

    def __init__(self, server_key: str, dependencies: ServerDependencies):
        super().__init__(server_key, dependencies)
        self._port = 0
        self._next_port_check, self._port_check_pause_s, self._absence_reason = 0.0, _FIRST_PORT_CHECK_S, ""
        self._is_end_unconfirmed = False
        self._last_reported_ms = 0
        self.relay = OpencodeEventRelay()
        self.has_all_sessions = False
        """False if the session list was truncated."""

    async def find_absence_reason(self) -> str:
        """Find the port of the process, with increasing pauses if its command line names none."""
        now, agent = self._clock.monotonic(), self._agent
        if agent is None:
            return "opencode has exited"
        requested_port = find_requested_port(agent.process)
        # By default opencode listens on no port, and finding ports reads procfs, so this is tried less and less often.
        if now < self._next_port_check and not requested_port:
            return self._absence_reason
        self._next_port_check, self._port_check_pause_s = (
            now + self._port_check_pause_s,
            min(_MAX_PORT_CHECK_S, self._port_check_pause_s * 2),
        )
        ports = await self._dependencies.list_ports(agent.process)
        if requested_port:
            self._port = requested_port if requested_port in ports else 0
        else:
            self._port = ports[0] if len(ports) == 1 else 0
        is_ambiguous = ports and not requested_port
        self._absence_reason = "" if self._port else _SEVERAL_PORTS_REASON if is_ambiguous else _NO_PORT_REASON
        return self._absence_reason

    def build_lost_records(self) -> Sequence[SourceRecord]:
        return self._build_records(self.relay.process_connection_lost())

    def refresh(self) -> None:
        self._next_port_check, self._port_check_pause_s = 0.0, _FIRST_PORT_CHECK_S

    def find_session_control(self, process: ProcessInfo) -> OpencodeSessionControl | None:
        agent = self._agent
        is_same = agent is not None and agent.process.pid == process.pid
        return OpencodeSessionControl(self, process.cwd) if is_same and self.is_connected else None

    async def post(self, path: str, body: Mapping[str, object]) -> HttpResponse:
        """Send a request on behalf of the gate, which alone may change anything."""
        if not self.is_connected:
            raise build_not_connected_error("opencode server")
        await self._check_port_owner()
        return await send_request(self._port, path, body)

    @property
    def _agent(self) -> ServedAgent | None:
        return next(iter(self._dependencies.list_agents()), None)

    async def _check_port_owner(self) -> None:
        """Raise Unavailable if the process no longer listens on the port: another program may have taken it."""
        agent = self._agent
        if agent is None or self._port not in await self._dependencies.list_ports(agent.process):
            raise Unavailable(f"port {self._port} no longer belongs to this opencode process")

    async def _receive(self) -> None:
        async with open_event_stream(self._port, "/event", SILENCE_TIMEOUT_S) as stream:
            # Checked only now, because another program could have taken the port before the connection was open.
            await self._check_port_owner()
            async for events, dropped in stream:
                self._has_dropped_messages = self._has_dropped_messages or bool(dropped)
                for event_text in events:
                    self._enqueue(event_text)

    def _forget_requests(self) -> None:
        self.relay.permissions.clear()

    async def _observe(self) -> None:
        """Fetch the lists after the first event, because every later change is reported by an event."""
        self._is_end_unconfirmed = False
        await self._process_event(await self._messages.get())
        await self._report_server_state()
        self.is_connected = True
        next_list = self._clock.monotonic() + LIST_INTERVAL_S
        while True:
            event = await self._wait_for_message(next_list - self._clock.monotonic())
            if event is not None:
                await self._process_event(event)
            if self._has_dropped_messages:
                raise Unavailable("events were dropped (too large or too many); reconnecting")
            if self._clock.monotonic() >= next_list:
                is_confirmed = await self._confirm_server_state()
                next_list = self._clock.monotonic() + (LIST_INTERVAL_S if is_confirmed else CONFIRM_DELAY_S)

    async def _process_event(self, event_or_error: str | Exception) -> None:
        if isinstance(event_or_error, Exception):
            raise event_or_error
        event, now = parse_json_object(event_or_error), self._clock.now()
        events = self.relay.process_event(event, now) if event is not None else []
        if events and events[0].at:
            self._lag_s = max(0.0, now / NS - events[0].at / 1000)
            self._dependencies.report_health("", self._lag_s)
        await self._store_events(events)

    async def _report_server_state(self) -> None:
        events = self.relay.process_server_state(await self._fetch_server_state())
        self._dependencies.report_health("", self._lag_s)
        await self._store_events(events)

    async def _confirm_server_state(self) -> bool:
        """Store the state from the lists; return False if it must be confirmed by fetching them again.

        Queued events are newer than the lists and take precedence.
        """
        server_state = await self._fetch_server_state()
        if not self._messages.empty():
            return True
        if self.relay.is_unreported_end(server_state) and not self._is_end_unconfirmed:
            self._is_end_unconfirmed = True
            return False
        self._is_end_unconfirmed = False
        await self._store_events(self.relay.process_server_state(server_state))
        return True

    async def _fetch_server_state(self) -> OpencodeServerState:
        sessions = await self._fetch_json(f"/session?limit={_PAGE_SIZE}")
        self.has_all_sessions = isinstance(sessions, list) and len(sessions) < _PAGE_SIZE
        statuses = await self._fetch_json("/session/status")
        return OpencodeServerState(
            sessions=filter_objects(sessions),
            statuses={session: status for session, status in statuses.items() if isinstance(status, dict)}
            if isinstance(statuses, dict)
            else {},
            permissions=filter_objects(await self._fetch_json("/permission")),
            questions=filter_objects(await self._fetch_json("/question")),
        )

    async def _fetch_json(self, path: str) -> object:
        response = await send_request(self._port, path)
        if not response.is_success:
            raise Unavailable(f"the opencode server returned status {response.status} for {path}")
        if not isinstance(response.json_value, list | dict):
            raise Unavailable(f"the opencode server returned no list for {path}")
        return response.json_value

    async def _store_events(self, events: Sequence[OpencodeEvent]) -> None:
        await self._notify_change()
        await self._store_records(self._build_records(events))

    def _build_records(self, events: Sequence[OpencodeEvent]) -> list[SourceRecord]:
        agent = self._agent
        if agent is None:
            return []
        hint = ProcessHint(pid=agent.process.pid, pid_started=agent.process.pid_started)
        now = self._clock.now()
        return [
            SourceRecord(source=source, text=self._set_monotonic_time(event, now).json_text, at=now, hint=hint)
            for event in events
        ]

    def _set_monotonic_time(self, event: OpencodeEvent, now: int) -> OpencodeEvent:
        """Return the event with a time not before the last one, because an event may arrive after a newer list."""
        self._last_reported_ms = max(self._last_reported_ms, event.at or now // NS_PER_MS)
        return replace(event, at=self._last_reported_ms)
