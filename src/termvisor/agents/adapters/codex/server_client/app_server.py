"""Codex' app-server: one socket for all threads of one home. What it says becomes records.

It observes: it hears what is told to everybody, and asks which threads there are and how turns ended. It follows no
thread and answers nothing, unless the gate wants it. It is never the first to speak with a fresh server:
Codex names all of its own requests after the first program that introduces itself.
"""

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence

from termvisor import __version__
from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.codex.server_client.rpc import CodexRpcClient
from termvisor.agents.adapters.codex.server_client.session_control import CodexSessionControl, build_request_id
from termvisor.agents.adapters.codex.server_client.websocket import connect_websocket
from termvisor.agents.adapters.codex.server_events import CodexEventRelay
from termvisor.agents.adapters.json_access import JsonObject, get_int, get_object, get_str
from termvisor.agents.adapters.server_contract import ServedAgent, ServerDependencies
from termvisor.clock import NS
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.log import get_logger

SOCKET_PATH = "app-server-control/app-server-control.sock"
SETTLE_TIME_S = 3.0
"""Seconds for which a socket must have been there: by then the Codex that started the server has spoken."""
LIST_INTERVAL_S = 10.0
_CONNECT_TIMEOUT_S = 5.0
_REQUEST_TIMEOUT_S = 5.0
_MAX_QUEUED_MESSAGES = 2000
"""Messages that wait; when there are more, all is asked anew instead."""
_PAGE_SIZE = 100
_TURN_RETRY_DELAYS_S = (0.02, 0.05, 0.1, 0.2)
_CLIENT_INFO = {"name": "termvisor", "title": "Termvisor", "version": __version__}
_WAKE_UP: JsonObject = {}
log = get_logger("agents")


class AppServer:
    """The one of this home. Threads of Codexes that live in no pane of ours are told here, too."""

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
        """Requests of this connection to which an answer was given, whether or not it was heard."""

    async def find_absence_reason(self) -> str:
        return "" if self._is_settled() else "no app-server runs for this home"

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
        """Another Codex lives, or one less: its threads are asked for now rather than later."""
        self._enqueue_message(_WAKE_UP)

    async def list_threads(self) -> list[JsonObject]:
        """The newest threads of this home, as the server describes them."""
        return _get_items(await self._require_connection().send_request("thread/list", {"limit": _PAGE_SIZE}))

    def find_thread(self, pid: int) -> str:
        """The thread that this process is proven to show; empty where none is, or the server is not heard."""
        return self._relay.threads.find_shown_thread(pid, self._list_agents()) if self._rpc is not None else ""

    async def send_request(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """What the gate wants; nobody else asks for anything that changes something."""
        return await self._require_connection().send_request(method, params)

    async def send_reply(self, request: JsonObject, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once. False where it no longer waits, as it was, on this very connection."""
        number = request.get("id")
        if (
            self._rpc is None
            or not isinstance(number, int | str)
            or self._relay.pending_requests.get(number) != request
        ):
            return False
        if number in self._answered_request_ids:
            return False
        self._answered_request_ids.add(number)
        await self._rpc.send_reply(number, result)
        return True

    async def wait_for_request(
        self, thread: str, known_ids: Collection[str] = (), seconds: float = _REQUEST_TIMEOUT_S
    ) -> JsonObject:
        """The request in a thread that is followed which waits for an answer. Raises TimedOut if there is none."""
        try:
            async with asyncio.timeout(seconds), self._requests_changed:
                while (found := self._find_pending_request(thread, known_ids)) is None:
                    await self._requests_changed.wait()
                return found
        except TimeoutError as error:
            raise TimedOut(f"nothing waits for an answer in the thread {thread}") from error

    async def wait_until_resolved(self, request: JsonObject) -> bool:
        """Whether the request was answered, by us or by somebody else; False when the server cannot be heard."""
        number, rpc = request.get("id"), self._rpc
        async with self._requests_changed:
            while isinstance(number, int | str) and self._relay.pending_requests.get(number) == request:
                await self._requests_changed.wait()
        return rpc is not None and rpc is self._rpc

    def _find_pending_request(self, thread: str, known_ids: Collection[str]) -> JsonObject | None:
        requests = [one for one in self._relay.pending_requests.values() if build_request_id(one) not in known_ids]
        return next((one for one in requests if get_str(get_object(one, "params"), "threadId") == thread), None)

    def _require_connection(self) -> CodexRpcClient:
        if self._rpc is None:
            raise Unavailable("Codex' app-server is not connected", hint="Answer in the pane itself.")
        return self._rpc

    def _list_agents(self) -> list[ServedAgent]:
        return [*self._dependencies.list_agents(), *self._unwatched_agents]

    async def _refresh_unwatched_agents(self) -> None:
        """Whose a new thread is depends on all who could have begun it."""
        self._unwatched_agents = await self._dependencies.list_unwatched_agents()

    def _is_settled(self) -> bool:
        try:
            born = os.stat(self.location).st_mtime_ns
        except OSError:
            return False
        return abs(self._clock.now() - born) >= SETTLE_TIME_S * NS  # the clock may have been set back

    async def _connect_and_observe(self, group: asyncio.TaskGroup) -> None:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            socket = await connect_websocket(self.location)
        self._answered_request_ids.clear()
        self._messages, self._connection_error, rpc = (
            asyncio.Queue(_MAX_QUEUED_MESSAGES),
            None,
            CodexRpcClient(socket, self._enqueue_message),
        )
        listening = group.create_task(self._receive_messages(rpc))
        try:
            await self._observe_threads(rpc)
        finally:
            self._rpc = None
            listening.cancel()
            await socket.close()

    async def _receive_messages(self, rpc: CodexRpcClient) -> None:
        """Never fails: that the connection ended is said like everything else."""
        try:
            await rpc.receive_messages()
        except Exception as error:  # whatever is wrong with this one, the others go on
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
        """What is said, until it is time for a list, or somebody wants one."""
        until = self._clock.monotonic() + seconds
        while (
            (left := until - self._clock.monotonic()) > 0
            and not self._relay.needs_thread_list
            and not self._has_dropped_messages
        ):
            try:
                async with asyncio.timeout(left):
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
        if sent := get_int(message, "emittedAtMs"):
            self._lag_s = max(0.0, now / NS - sent / 1000)
        if get_str(message, "method") == "thread/started":
            await self._refresh_unwatched_agents()
        await self._store_records(self._relay.process_message(message, self._list_agents(), now))
        async with self._requests_changed:
            self._requests_changed.notify_all()
        if self._relay.ended_turn is not None:
            await self._report_turn_end(rpc, *self._relay.ended_turn)

    async def _report_turn_end(self, rpc: CodexRpcClient, thread: str, expected: str) -> None:
        """The end of a turn is told before it is written down: until then the answer is another one.

        An interrupted turn is not asked for long: that it rests was told already, and that is all there is to tell.
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
        wanted = {"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "summary"}
        try:
            turns = _get_items(await rpc.send_request("thread/turns/list", wanted))
        except (BadRequest, TimedOut) as error:
            log.info("%s: %s", self.location, error.message)
            return {}
        return turns[0] if turns else {}

    async def _refresh_threads(self, rpc: CodexRpcClient) -> None:
        """All threads that live, also those in which nothing was said yet."""
        self._relay.needs_thread_list = self._has_dropped_messages = False
        found = _get_items(await rpc.send_request("thread/list", {"limit": _PAGE_SIZE}))
        found += [
            await self._fetch_thread(rpc, thread)
            for thread in await self._list_unlisted_threads(rpc, {get_str(one, "id") for one in found})
        ]
        if any(not self._relay.threads.is_owner_known(get_str(one, "id")) for one in found):
            await self._refresh_unwatched_agents()
        faces, now = self._list_agents(), self._clock.now()
        records = [
            record for thread in reversed(found) for record in self._relay.process_listed_thread(thread, faces, now)
        ]
        self._dependencies.report_health(self._describe_conflicts(faces), self._lag_s)
        await self._store_records(records)

    async def _list_unlisted_threads(self, rpc: CodexRpcClient, listed_ids: set[str]) -> list[str]:
        """Threads that live but are in no list yet, and of which nothing is known."""
        loaded = (await rpc.send_request("thread/loaded/list", {})).get("data")
        ids = [one for one in loaded if isinstance(one, str)] if isinstance(loaded, list) else []
        return [one for one in ids if one not in listed_ids and not self._relay.threads.has_thread(one)][:_PAGE_SIZE]

    async def _fetch_thread(self, rpc: CodexRpcClient, thread: str) -> JsonObject:
        """One that may not be read is one that Codex keeps for itself."""
        try:
            return get_object(await rpc.send_request("thread/read", {"threadId": thread}), "thread")
        except BadRequest:
            return {"id": thread, "ephemeral": True}

    def _describe_conflicts(self, agents: Sequence[ServedAgent]) -> str:
        folders = self._relay.threads.list_conflicting_folders(agents)
        return "; ".join(
            f"more than one Codex may have begun threads in {one}: whose they are is not proven" for one in folders
        )

    async def _store_records(self, records: list[SourceRecord]) -> None:
        if records:
            await self._dependencies.store_records(records)


def _get_items(answer: JsonObject) -> list[JsonObject]:
    data = answer.get("data")
    return [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
