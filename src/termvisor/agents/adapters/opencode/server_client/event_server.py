"""The HTTP server of one opencode: what it tells of its sessions becomes records.

It observes: it hears the events, and asks for lists, first and now and then. It answers nothing, unless the gate wants
it. Which port is that process' own, the kernel tells; none is guessed.
"""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.json_access import NS_PER_MS, JsonObject, parse_json_object
from termvisor.agents.adapters.opencode.process_match import find_requested_port
from termvisor.agents.adapters.opencode.server_client.http import HttpResponse, open_event_stream, send_request
from termvisor.agents.adapters.opencode.server_client.session_control import OpencodeSessionControl
from termvisor.agents.adapters.opencode.server_events import OpencodeEvent, OpencodeEventRelay, OpencodeServerState
from termvisor.agents.adapters.server_contract import ServedAgent, ServerDependencies
from termvisor.clock import NS
from termvisor.errors import Unavailable
from termvisor.model.agent.signal import ProcessHint

SOURCE_NAME = "server"
SILENCE_TIMEOUT_S = 30.0
"""Seconds without a word after which it is not heard: it says that it lives every ten."""
LIST_INTERVAL_S = 60.0
CONFIRM_DELAY_S = 2.0
"""Seconds after which a list that tells of an end which no event told is asked for again, and then believed."""
_PAGE_SIZE = 1000
_MAX_QUEUED_EVENTS = 2000
_FIRST_PORT_CHECK_S, _MAX_PORT_CHECK_S = 2.0, 60.0
_NO_PORT_REASON = "it listens on no port: started with `--port`, it would tell all by itself, and take answers"
_SEVERAL_PORTS_REASON = "it listens on several ports, and its command line does not say which one is its server"


class EventServer:
    def __init__(self, server_key: str, dependencies: ServerDependencies):
        self.location = server_key
        self._dependencies, self._clock = dependencies, dependencies.clock
        self._port = 0
        self._next_port_check, self._port_check_pause_s, self._absence_reason = 0.0, _FIRST_PORT_CHECK_S, ""
        self._events: asyncio.Queue[str | Exception] = asyncio.Queue(_MAX_QUEUED_EVENTS)
        self._has_dropped_events = self._is_end_unconfirmed = False
        self._lag_s: float | None = None
        self._last_reported_ms = 0
        self.relay = OpencodeEventRelay()
        self.is_connected = False
        self.has_all_sessions = False
        """Whether all of its sessions are known."""
        self.state_changed = asyncio.Condition()

    async def find_absence_reason(self) -> str:
        """The kernel is not asked all the time for one that was not told to listen."""
        now, face = self._clock.monotonic(), self._agent
        if face is None:
            return "it has ended"
        wanted = find_requested_port(face.process)
        if now < self._next_port_check and not wanted:
            return self._absence_reason
        self._next_port_check, self._port_check_pause_s = (
            now + self._port_check_pause_s,
            min(_MAX_PORT_CHECK_S, self._port_check_pause_s * 2),
        )
        ports = await self._dependencies.list_ports(face.process)
        self._port = wanted if wanted in ports else ports[0] if len(ports) == 1 and not wanted else 0
        self._absence_reason = "" if self._port else _SEVERAL_PORTS_REASON if ports and not wanted else _NO_PORT_REASON
        return self._absence_reason

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        self._events = asyncio.Queue(_MAX_QUEUED_EVENTS)
        self._has_dropped_events = self._is_end_unconfirmed = False
        listening = group.create_task(self._receive_events())
        try:
            await self._observe_sessions()
        finally:
            self.is_connected = False
            listening.cancel()
            async with self.state_changed:
                self.relay.permissions.clear()
                self.state_changed.notify_all()

    def build_lost_records(self) -> Sequence[SourceRecord]:
        return self._build_records(self.relay.process_connection_lost())

    def refresh(self) -> None:
        self._next_port_check, self._port_check_pause_s = 0.0, _FIRST_PORT_CHECK_S

    def find_session_control(self, process: ProcessInfo) -> OpencodeSessionControl | None:
        face = self._agent
        is_it = face is not None and face.process.pid == process.pid
        return OpencodeSessionControl(self, process.cwd) if is_it and self.is_connected else None

    async def post(self, path: str, body: Mapping[str, object]) -> HttpResponse:
        """What the gate wants; nobody else says anything that changes something."""
        if not self.is_connected:
            raise Unavailable("opencode's server is not heard", hint="Answer in the pane itself.")
        await self._check_port_owner()
        return await send_request(self._port, path, body)

    @property
    def _agent(self) -> ServedAgent | None:
        return next(iter(self._dependencies.list_agents()), None)

    async def _check_port_owner(self) -> None:
        """That it is still this very process that listens there."""
        face = self._agent
        if face is None or self._port not in await self._dependencies.list_ports(face.process):
            raise Unavailable("the port is no longer that of this process")

    async def _receive_events(self) -> None:
        """Never fails: that the connection ended is said like everything else."""
        try:
            async with open_event_stream(self._port, "/event", SILENCE_TIMEOUT_S) as told:
                await self._check_port_owner()
                async for several, dropped in told:
                    self._has_dropped_events = self._has_dropped_events or bool(dropped)
                    for one in several:
                        self._enqueue_event(one)
        except Exception as error:  # whatever is wrong with this one, the others go on
            self._enqueue_error(error)

    def _enqueue_event(self, event_text: str) -> None:
        if self._events.full():
            self._has_dropped_events = True
        else:
            self._events.put_nowait(event_text)

    def _enqueue_error(self, error: Exception) -> None:
        if self._events.full():
            self._events.get_nowait()
        self._events.put_nowait(error)

    async def _observe_sessions(self) -> None:
        """Lists come after the first word: whatever changes while they are written is told by an event then."""
        await self._process_event(await self._events.get())
        await self._report_server_state()
        self.is_connected = True
        until = self._clock.monotonic() + LIST_INTERVAL_S
        while True:
            said = await self._wait_for_event(until - self._clock.monotonic())
            if said is not None:
                await self._process_event(said)
            if self._has_dropped_events:
                raise Unavailable("some of what it said was too long, or came too fast: all is asked anew")
            if self._clock.monotonic() >= until:
                is_sure = await self._confirm_server_state()
                until = self._clock.monotonic() + (LIST_INTERVAL_S if is_sure else CONFIRM_DELAY_S)

    async def _wait_for_event(self, timeout_s: float) -> str | Exception | None:
        try:
            async with asyncio.timeout(max(0.0, timeout_s)):
                return await self._events.get()
        except TimeoutError:
            return None

    async def _process_event(self, event_or_error: str | Exception) -> None:
        if isinstance(event_or_error, Exception):
            raise event_or_error
        event, now = parse_json_object(event_or_error), self._clock.now()
        words = self.relay.process_event(event, now) if event is not None else []
        if words and words[0].at:
            self._lag_s = max(0.0, now / NS - words[0].at / 1000)
            self._dependencies.report_health("", self._lag_s)
        await self._store_events(words)

    async def _report_server_state(self) -> None:
        words = self.relay.process_server_state(await self._fetch_server_state())
        self._dependencies.report_health("", self._lag_s)
        await self._store_events(words)

    async def _confirm_server_state(self) -> bool:
        """Whether it is sure: what is on its way counts more, and an end that no event told is looked at twice."""
        lists = await self._fetch_server_state()
        if not self._events.empty():
            return True
        if self.relay.is_unreported_end(lists) and not self._is_end_unconfirmed:
            self._is_end_unconfirmed = True
            return False
        self._is_end_unconfirmed = False
        await self._store_events(self.relay.process_server_state(lists))
        return True

    async def _fetch_server_state(self) -> OpencodeServerState:
        sessions = await self._fetch_json(f"/session?limit={_PAGE_SIZE}")
        self.has_all_sessions = isinstance(sessions, list) and len(sessions) < _PAGE_SIZE
        statuses = await self._fetch_json("/session/status")
        return OpencodeServerState(
            sessions=_filter_objects(sessions),
            statuses={name: one for name, one in statuses.items() if isinstance(one, dict)}
            if isinstance(statuses, dict)
            else {},
            permissions=_filter_objects(await self._fetch_json("/permission")),
            questions=_filter_objects(await self._fetch_json("/question")),
        )

    async def _fetch_json(self, path: str) -> object:
        answer = await send_request(self._port, path)
        if not answer.is_success:
            raise Unavailable(f"its server answers {path} with status {answer.status}")
        if not isinstance(answer.json_value, list | dict):
            raise Unavailable(f"its server answers {path} with what is no list")
        return answer.json_value

    async def _store_events(self, events_to_store: Sequence[OpencodeEvent]) -> None:
        async with self.state_changed:
            self.state_changed.notify_all()
        if records := self._build_records(events_to_store):
            await self._dependencies.store_records(records)

    def _build_records(self, words: Sequence[OpencodeEvent]) -> list[SourceRecord]:
        face = self._agent
        if face is None:
            return []
        hint = ProcessHint(pid=face.process.pid, pid_started=face.process.pid_started)
        now = self._clock.now()
        return [
            SourceRecord(source=SOURCE_NAME, text=self._set_monotonic_time(word, now).json_text, at=now, hint=hint)
            for word in words
        ]

    def _set_monotonic_time(self, event: OpencodeEvent, now: int) -> OpencodeEvent:
        """A word that was long on its way comes behind a list that was asked for meanwhile, and is no older for us."""
        self._last_reported_ms = max(self._last_reported_ms, event.at or now // NS_PER_MS)
        return replace(event, at=self._last_reported_ms)


def _filter_objects(found: object) -> list[JsonObject]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
