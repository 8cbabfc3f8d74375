"""Connect to the Codex app-server (one socket for all threads of a home) and turn its messages into records.

This client only observes: it receives notifications and fetches threads and ended turns. It subscribes to a thread and
answers requests only for the gate. It is never the first to connect, because Codex labels all its own requests with
the name of the first client.
"""

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence

from termvisor import __version__
from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.codex.adapter import find_codex_home
from termvisor.agents.adapters.codex.server_client.session_control import (
    CodexSessionControl,
    build_last_turn_request,
    build_request_id,
)
from termvisor.agents.adapters.codex.server_client.websocket_rpc import CodexRpcClient, connect_websocket
from termvisor.agents.adapters.codex.server_events import SOURCE_NAME, CodexEventRelay
from termvisor.agents.adapters.json_access import JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.server_base import ObservingServer, build_not_connected_error, filter_objects
from termvisor.agents.adapters.server_contract import AgentServer, ServedAgent, ServerDependencies
from termvisor.clock import NS
from termvisor.errors import BadRequest, TimedOut
from termvisor.log import get_logger

SOCKET_PATH = "app-server-control/app-server-control.sock"
# Minimum age of the socket: by then the Codex that started the server has connected.
SETTLE_TIME_S = 3.0
LIST_INTERVAL_S = 10.0
_CONNECT_TIMEOUT_S = 5.0
_REQUEST_TIMEOUT_S = 5.0
_PAGE_SIZE = 100
# The server reports that a turn ended before the turn list contains it.
_TURN_RETRY_DELAYS_S = (0.02, 0.05, 0.1, 0.2)
_CLIENT_INFO = {"name": "termvisor", "title": "Termvisor", "version": __version__}
_WAKE_UP: JsonObject = {}
log = get_logger("agents")
source = SOURCE_NAME
get_server_key = find_codex_home


def create_server(server_key: str, dependencies: ServerDependencies) -> AgentServer:
    return AppServer(server_key, dependencies)


class AppServer(ObservingServer[JsonObject]):
    """The app-server of one home. It also reports threads of Codex processes outside observed panes."""

    def __init__(self, home: str, dependencies: ServerDependencies):
        super().__init__(os.path.join(home, SOCKET_PATH), dependencies)
        self._unwatched_agents: Sequence[ServedAgent] = ()
        self._relay = CodexEventRelay()
        self._rpc: CodexRpcClient
        self._answered_request_ids: set[int | str] = set()
        """Requests on this connection that were answered, whether or not the answer arrived."""

    async def find_absence_reason(self) -> str:
        return "" if self._is_settled() else "no Codex app-server is running for this home"

    def build_lost_records(self) -> list[SourceRecord]:
        return self._relay.process_connection_lost(self._list_agents(), self._clock.now())

    def find_session_control(self, process: ProcessInfo) -> CodexSessionControl | None:
        thread = self.find_thread(process.pid)
        return CodexSessionControl(self, thread, self._clock) if thread else None

    def refresh(self) -> None:
        """Fetch the threads now, because a Codex process started or exited."""
        self._enqueue(_WAKE_UP)

    def find_thread(self, pid: int) -> str:
        """Return the thread that this process provably shows; empty if there is no proof or no connection."""
        return self._relay.threads.find_shown_thread(pid, self._list_agents()) if self.is_connected else ""

    async def send_request(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """Send a request on behalf of the gate, which alone may change anything."""
        if not self.is_connected:
            raise build_not_connected_error("Codex app-server")
        return await self._rpc.send_request(method, params)

    async def send_reply(self, request: JsonObject, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once. Returns False unless it is pending, unchanged, on this connection."""
        request_id = request.get("id")
        if (
            not self.is_connected
            or not isinstance(request_id, int | str)
            # Compared as a whole, because a new connection reuses the ids for other requests.
            or self._relay.pending_requests.get(request_id) != request
            or request_id in self._answered_request_ids
        ):
            return False
        # Recorded before sending: after an error the answer may have arrived, so it must not be repeated.
        self._answered_request_ids.add(request_id)
        await self._rpc.send_reply(request_id, result)
        return True

    async def wait_for_request(
        self, thread: str, known_ids: Collection[str] = (), seconds: float = _REQUEST_TIMEOUT_S
    ) -> JsonObject:
        """Return a pending request of a subscribed thread. Raises TimedOut if there is none."""
        try:
            async with asyncio.timeout(seconds), self.state_changed:
                while (request := self._find_pending_request(thread, known_ids)) is None:
                    await self.state_changed.wait()
                return request
        except TimeoutError as error:
            raise TimedOut(f"no request is pending in the Codex thread {thread}") from error

    async def wait_until_resolved(self, request: JsonObject) -> bool:
        """Wait and return True when any client has answered the request, or False if the connection is lost."""
        if not self.is_connected:
            return False
        request_id, rpc = request.get("id"), self._rpc
        async with self.state_changed:
            while isinstance(request_id, int | str) and self._relay.pending_requests.get(request_id) == request:
                await self.state_changed.wait()
        return self.is_connected and rpc is self._rpc

    def _find_pending_request(self, thread: str, known_ids: Collection[str]) -> JsonObject | None:
        for request in self._relay.pending_requests.values():
            is_in_thread = get_str(get_object(request, "params"), "threadId") == thread
            if is_in_thread and build_request_id(request) not in known_ids:
                return request
        return None

    def _list_agents(self) -> list[ServedAgent]:
        return [*self._dependencies.list_agents(), *self._unwatched_agents]

    async def _refresh_unwatched_agents(self) -> None:
        # The owner of a new thread depends on all processes that could have started it.
        self._unwatched_agents = await self._dependencies.list_unwatched_agents()

    def _is_settled(self) -> bool:
        try:
            # Without the socket, no Codex of this home uses the shared server.
            created = os.stat(self.location).st_mtime_ns
        except OSError:
            return False
        return abs(self._clock.now() - created) >= SETTLE_TIME_S * NS  # abs: the clock may have been set back

    async def _connect(self) -> None:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            self._rpc = CodexRpcClient(await connect_websocket(self.location), self._enqueue)
        self._answered_request_ids.clear()

    async def _receive(self) -> None:
        await self._rpc.receive_messages()

    async def _disconnect(self) -> None:
        await self._rpc.close()

    def _forget_requests(self) -> None:
        self._relay.pending_requests.clear()

    async def _observe(self) -> None:
        client = {"clientInfo": _CLIENT_INFO, "capabilities": {"experimentalApi": True}}
        await self._rpc.send_request("initialize", client)
        await self._rpc.send_notification("initialized")
        self.is_connected = True
        while True:
            await self._refresh_threads()
            await self._process_queue(self._clock.monotonic() + LIST_INTERVAL_S)

    async def _process_queue(self, deadline: float) -> None:
        """Process messages until the thread list must be fetched."""
        while (
            (remaining_s := deadline - self._clock.monotonic()) > 0
            and not self._relay.needs_thread_list
            and not self._has_dropped_messages
        ):
            message = await self._wait_for_message(remaining_s)
            # Messages before the error are dropped, because the next connection starts with a list of all threads.
            if self._connection_error is not None:
                raise self._connection_error
            if message is None or isinstance(message, Exception) or message is _WAKE_UP:
                return
            await self._process_message(message)

    async def _process_message(self, message: JsonObject) -> None:
        now = self._clock.now()
        if sent_ms := get_int(message, "emittedAtMs"):
            self._lag_s = max(0.0, now / NS - sent_ms / 1000)
        if get_str(message, "method") == "thread/started":
            await self._refresh_unwatched_agents()
        await self._store_records(self._relay.process_message(message, self._list_agents(), now))
        await self._notify_change()
        if self._relay.ended_turn is not None:
            await self._report_turn_end(*self._relay.ended_turn)

    async def _report_turn_end(self, thread: str, expected: str) -> None:
        """Fetch the ended turn and store its outcome, retrying until the turn list contains it.

        An interrupted turn never gets the expected status, but its thread was already reported as idle.
        """
        for pause in _TURN_RETRY_DELAYS_S:
            turn = await self._fetch_last_turn(thread)
            if get_str(turn, "status") == expected:
                await self._store_records(
                    self._relay.process_last_turn(thread, turn, self._list_agents(), self._clock.now())
                )
                return
            await self._clock.sleep(pause)

    async def _fetch_last_turn(self, thread: str) -> JsonObject:
        try:
            turns = filter_objects((await self._rpc.send_request(*build_last_turn_request(thread))).get("data"))
        except (BadRequest, TimedOut) as error:
            # The outcome is a bonus: the thread was already reported as idle.
            log.info("%s: %s", self.location, error.message)
            return {}
        return turns[0] if turns else {}

    async def _refresh_threads(self) -> None:
        """Fetch all loaded threads, including those without a message, and store what has changed."""
        self._relay.needs_thread_list = self._has_dropped_messages = False
        threads = filter_objects((await self._rpc.send_request("thread/list", {"limit": _PAGE_SIZE})).get("data"))
        threads += [
            await self._fetch_thread(thread_id)
            for thread_id in await self._list_unlisted_threads({get_str(thread, "id") for thread in threads})
        ]
        if any(not self._relay.threads.is_owner_known(get_str(thread, "id")) for thread in threads):
            await self._refresh_unwatched_agents()
        agents, now = self._list_agents(), self._clock.now()
        records = [
            # Oldest first, because the thread reported last is the one that a process shows.
            record
            for thread in reversed(threads)
            for record in self._relay.process_listed_thread(thread, agents, now)
        ]
        self._dependencies.report_health(self._describe_conflicts(agents), self._lag_s)
        await self._store_records(records)

    async def _list_unlisted_threads(self, listed_ids: set[str]) -> list[str]:
        """Return the ids of loaded threads that are unknown and not in the list yet."""
        # Before its first prompt a thread is loaded but not listed.
        loaded = (await self._rpc.send_request("thread/loaded/list", {})).get("data")
        ids = [item for item in loaded if isinstance(item, str)] if isinstance(loaded, list) else []
        known = self._relay.threads
        return [thread for thread in ids if thread not in listed_ids and not known.has_thread(thread)][:_PAGE_SIZE]

    async def _fetch_thread(self, thread: str) -> JsonObject:
        try:
            return get_object(await self._rpc.send_request("thread/read", {"threadId": thread}), "thread")
        except BadRequest:  # internal threads of Codex cannot be read
            return {"id": thread, "ephemeral": True}

    def _describe_conflicts(self, agents: Sequence[ServedAgent]) -> str:
        folders = self._relay.threads.list_conflicting_folders(agents)
        return "; ".join(
            f"several Codex processes run in {folder}: the owner of its threads is ambiguous" for folder in folders
        )
