"""Connect to the Codex app-server, one socket for all threads of one home, and turn its messages into records.

It only observes: it receives notifications and asks for threads and ended turns. It subscribes to a thread and answers
requests only for the gate. It never connects first to a new server, because Codex labels all of its own requests with
the name of the first client.
"""

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence

from termvisor import __version__
from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.codex.server_client.rpc import CodexRpcClient
from termvisor.agents.adapters.codex.server_client.session_control import (
    CodexSessionControl,
    build_last_turn_request,
    build_request_id,
)
from termvisor.agents.adapters.codex.server_client.websocket import connect_websocket
from termvisor.agents.adapters.codex.server_events import CodexEventRelay
from termvisor.agents.adapters.json_access import JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.server_contract import ServedAgent, ServerDependencies
from termvisor.clock import NS
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.log import get_logger

SOCKET_PATH = "app-server-control/app-server-control.sock"
SETTLE_TIME_S = 3.0
"""Minimum age of the socket: by then the Codex that started the server has connected."""
LIST_INTERVAL_S = 10.0
_CONNECT_TIMEOUT_S = 5.0
_REQUEST_TIMEOUT_S = 5.0
_MAX_QUEUED_MESSAGES = 2000
"""When the queue is full, messages are dropped and all threads are fetched again."""
_PAGE_SIZE = 100
_TURN_RETRY_DELAYS_S = (0.02, 0.05, 0.1, 0.2)
"""The server reports the end of a turn before the turn list contains it."""
_CLIENT_INFO = {"name": "termvisor", "title": "Termvisor", "version": __version__}
_WAKE_UP: JsonObject = {}
log = get_logger("agents")


class AppServer:
    """The app-server of one home. It reports threads of Codex processes outside of observed panes as well."""

    def __init__(self, home: str, dependencies: ServerDependencies):
        self.location = os.path.join(home, SOCKET_PATH)
        self._dependencies, self._clock = dependencies, dependencies.clock
        self._unwatched_agents: Sequence[ServedAgent] = ()
        self._lag_s: float | None = None
        self._relay = CodexEventRelay()
        self._rpc: CodexRpcClient | None = None
        self._messages: asyncio.Queue[JsonObject] = asyncio.Queue(_MAX_QUEUED_MESSAGES)
        self._has_dropped_messages = False
        self._connection_error: Exception | None = None
        self._requests_changed = asyncio.Condition()
        self._answered_request_ids: set[int | str] = set()
        """Requests of this connection that were answered, whether or not the answer arrived."""

    async def find_absence_reason(self) -> str:
        return "" if self._is_settled() else "no Codex app-server is running for this home"

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        try:
            await self._connect_and_observe(group)
        finally:
            async with self._requests_changed:
                self._relay.pending_requests.clear()
                self._requests_changed.notify_all()

    def build_lost_records(self) -> list[SourceRecord]:
        return self._relay.process_connection_lost(self._list_agents(), self._clock.now())

    def find_session_control(self, process: ProcessInfo) -> CodexSessionControl | None:
        thread = self.find_thread(process.pid)
        return CodexSessionControl(self, thread, self._clock) if thread else None

    def refresh(self) -> None:
        """Fetch the threads now: a Codex process was started or has exited."""
        self._enqueue_message(_WAKE_UP)

    async def list_threads(self) -> list[JsonObject]:
        """Return the newest threads of this home, as the server describes them."""
        return _get_items(await self._require_connection().send_request("thread/list", {"limit": _PAGE_SIZE}))

    def find_thread(self, pid: int) -> str:
        """Return the thread that this process provably shows; empty if there is no proof or no connection."""
        return self._relay.threads.find_shown_thread(pid, self._list_agents()) if self._rpc is not None else ""

    async def send_request(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """Send a request of the gate. Only the gate may change anything."""
        return await self._require_connection().send_request(method, params)

    async def send_reply(self, request: JsonObject, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once. Returns False if it is not pending, unchanged, on this connection."""
        request_id = request.get("id")
        if (
            self._rpc is None
            or not isinstance(request_id, int | str)
            # Compared as a whole: a new connection reuses the ids for other requests.
            or self._relay.pending_requests.get(request_id) != request
            or request_id in self._answered_request_ids
        ):
            return False
        self._answered_request_ids.add(request_id)
        await self._rpc.send_reply(request_id, result)
        return True

    async def wait_for_request(
        self, thread: str, known_ids: Collection[str] = (), seconds: float = _REQUEST_TIMEOUT_S
    ) -> JsonObject:
        """Return a pending request of a subscribed thread. Raises TimedOut if there is none."""
        try:
            async with asyncio.timeout(seconds), self._requests_changed:
                while (request := self._find_pending_request(thread, known_ids)) is None:
                    await self._requests_changed.wait()
                return request
        except TimeoutError as error:
            raise TimedOut(f"no request is pending in the Codex thread {thread}") from error

    async def wait_until_resolved(self, request: JsonObject) -> bool:
        """Return True when any client has answered the request; False if the connection is lost."""
        request_id, rpc = request.get("id"), self._rpc
        async with self._requests_changed:
            while isinstance(request_id, int | str) and self._relay.pending_requests.get(request_id) == request:
                await self._requests_changed.wait()
        return rpc is not None and rpc is self._rpc

    def _find_pending_request(self, thread: str, known_ids: Collection[str]) -> JsonObject | None:
        for request in self._relay.pending_requests.values():
            is_in_thread = get_str(get_object(request, "params"), "threadId") == thread
            if is_in_thread and build_request_id(request) not in known_ids:
                return request
        return None

    def _require_connection(self) -> CodexRpcClient:
        if self._rpc is None:
            raise Unavailable("the Codex app-server is not connected", hint="Answer in the pane itself.")
        return self._rpc

    def _list_agents(self) -> list[ServedAgent]:
        return [*self._dependencies.list_agents(), *self._unwatched_agents]

    async def _refresh_unwatched_agents(self) -> None:
        # The owner of a new thread depends on all processes that could have started it.
        self._unwatched_agents = await self._dependencies.list_unwatched_agents()

    def _is_settled(self) -> bool:
        try:
            created = os.stat(self.location).st_mtime_ns
        except OSError:
            return False
        return abs(self._clock.now() - created) >= SETTLE_TIME_S * NS  # abs: the clock may have been set back

    async def _connect_and_observe(self, group: asyncio.TaskGroup) -> None:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            socket = await connect_websocket(self.location)
        self._answered_request_ids.clear()
        self._messages, self._connection_error, rpc = (
            asyncio.Queue(_MAX_QUEUED_MESSAGES),
            None,
            CodexRpcClient(socket, self._enqueue_message),
        )
        receiver = group.create_task(self._receive_messages(rpc))
        try:
            await self._observe_threads(rpc)
        finally:
            self._rpc = None
            receiver.cancel()
            await socket.close()

    async def _receive_messages(self, rpc: CodexRpcClient) -> None:
        """Receive until the connection ends, and hand its error to `_process_queue`."""
        try:
            await rpc.receive_messages()
        except Exception as error:  # a failed task would end the reconnect loop, and with it all servers
            self._connection_error = error
            self._enqueue_message(_WAKE_UP)

    def _enqueue_message(self, message: JsonObject) -> None:
        self._has_dropped_messages = self._has_dropped_messages or self._messages.full()
        if not self._messages.full():
            self._messages.put_nowait(message)

    async def _observe_threads(self, rpc: CodexRpcClient) -> None:
        await rpc.send_request("initialize", {"clientInfo": _CLIENT_INFO, "capabilities": {"experimentalApi": True}})
        await rpc.send_notification("initialized")
        self._rpc = rpc
        while True:
            await self._refresh_threads(rpc)
            await self._process_queue(rpc, LIST_INTERVAL_S)

    async def _process_queue(self, rpc: CodexRpcClient, seconds: float) -> None:
        """Process messages until the thread list must be fetched."""
        deadline = self._clock.monotonic() + seconds
        while (
            (remaining_s := deadline - self._clock.monotonic()) > 0
            and not self._relay.needs_thread_list
            and not self._has_dropped_messages
        ):
            try:
                async with asyncio.timeout(remaining_s):
                    message = await self._messages.get()
            except TimeoutError:
                return
            if self._connection_error is not None:
                raise self._connection_error
            if message is _WAKE_UP:
                return
            await self._process_message(rpc, message)

    async def _process_message(self, rpc: CodexRpcClient, message: JsonObject) -> None:
        now = self._clock.now()
        if sent_ms := get_int(message, "emittedAtMs"):
            self._lag_s = max(0.0, now / NS - sent_ms / 1000)
        if get_str(message, "method") == "thread/started":
            await self._refresh_unwatched_agents()
        await self._store_records(self._relay.process_message(message, self._list_agents(), now))
        async with self._requests_changed:
            self._requests_changed.notify_all()
        if self._relay.ended_turn is not None:
            await self._report_turn_end(rpc, *self._relay.ended_turn)

    async def _report_turn_end(self, rpc: CodexRpcClient, thread: str, expected: str) -> None:
        """Fetch the ended turn and store its outcome, retrying until the turn list contains it.

        An interrupted turn never gets the expected status; that the thread is idle was reported already.
        """
        for pause in _TURN_RETRY_DELAYS_S:
            turn = await self._fetch_last_turn(rpc, thread)
            if get_str(turn, "status") == expected:
                await self._store_records(
                    self._relay.process_last_turn(thread, turn, self._list_agents(), self._clock.now())
                )
                return
            await self._clock.sleep(pause)

    async def _fetch_last_turn(self, rpc: CodexRpcClient, thread: str) -> JsonObject:
        request = build_last_turn_request(thread)
        try:
            turns = _get_items(await rpc.send_request(request.method, request.params))
        except (BadRequest, TimedOut) as error:
            log.info("%s: %s", self.location, error.message)
            return {}
        return turns[0] if turns else {}

    async def _refresh_threads(self, rpc: CodexRpcClient) -> None:
        """Fetch all loaded threads, including those without a message, and store what has changed."""
        self._relay.needs_thread_list = self._has_dropped_messages = False
        threads = _get_items(await rpc.send_request("thread/list", {"limit": _PAGE_SIZE}))
        threads += [
            await self._fetch_thread(rpc, thread_id)
            for thread_id in await self._list_unlisted_threads(rpc, {get_str(thread, "id") for thread in threads})
        ]
        if any(not self._relay.threads.is_owner_known(get_str(thread, "id")) for thread in threads):
            await self._refresh_unwatched_agents()
        agents, now = self._list_agents(), self._clock.now()
        records = [
            record for thread in reversed(threads) for record in self._relay.process_listed_thread(thread, agents, now)
        ]
        self._dependencies.report_health(self._describe_conflicts(agents), self._lag_s)
        await self._store_records(records)

    async def _list_unlisted_threads(self, rpc: CodexRpcClient, listed_ids: set[str]) -> list[str]:
        """Return the ids of loaded threads that are not in the list yet and unknown."""
        loaded = (await rpc.send_request("thread/loaded/list", {})).get("data")
        ids = [item for item in loaded if isinstance(item, str)] if isinstance(loaded, list) else []
        known = self._relay.threads
        return [thread for thread in ids if thread not in listed_ids and not known.has_thread(thread)][:_PAGE_SIZE]

    async def _fetch_thread(self, rpc: CodexRpcClient, thread: str) -> JsonObject:
        try:
            return get_object(await rpc.send_request("thread/read", {"threadId": thread}), "thread")
        except BadRequest:  # internal threads of Codex cannot be read
            return {"id": thread, "ephemeral": True}

    def _describe_conflicts(self, agents: Sequence[ServedAgent]) -> str:
        folders = self._relay.threads.list_conflicting_folders(agents)
        return "; ".join(
            f"several Codex processes run in {folder}: the owner of its threads is ambiguous" for folder in folders
        )

    async def _store_records(self, records: list[SourceRecord]) -> None:
        if records:
            await self._dependencies.store_records(records)


def _get_items(answer: JsonObject) -> list[JsonObject]:
    data = answer.get("data")
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
