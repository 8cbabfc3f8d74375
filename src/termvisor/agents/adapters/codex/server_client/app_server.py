"""Codex' app-server: one socket for all threads of one home. What it says becomes records.

It observes: it hears what is told to everybody, and asks which threads there are and how turns ended. It follows no
thread and answers nothing, unless the gate wants it. It is never the first to speak with a fresh server:
Codex names all of its own requests after the first program that introduces itself.
"""

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence

from termvisor import __version__
from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.adapters.codex.server_client.rpc import Rpc
from termvisor.agents.adapters.codex.server_client.session_control import ThreadLine, name_of
from termvisor.agents.adapters.codex.server_client.websocket import connect
from termvisor.agents.adapters.codex.server_events import Relay
from termvisor.agents.adapters.json_access import Json, inside, number, text
from termvisor.agents.adapters.server_contract import Face, Means
from termvisor.clock import NS
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.log import logger

SOCKET = "app-server-control/app-server-control.sock"
SETTLED = 3.0
"""Seconds for which a socket must have been there: by then the Codex that started the server has spoken."""
LIST_EVERY = 10.0
_CONNECT_WITHIN = 5.0
_WAIT_FOR_REQUEST = 5.0
_ROOM = 2000
"""Messages that wait; when there are more, all is asked anew instead."""
_PAGE = 100
_WRITTEN_WITHIN = (0.02, 0.05, 0.1, 0.2)
_CLIENT = {"name": "termvisor", "title": "Termvisor", "version": __version__}
_STIR: Json = {}
log = logger("agents")


class AppServer:
    """The one of this home. Threads of Codexes that live in no pane of ours are told here, too."""

    def __init__(self, home: str, means: Means):
        self.where = os.path.join(home, SOCKET)
        self._means, self._clock = means, means.clock
        self._elsewhere: Sequence[Face] = ()
        self._lag: float | None = None
        self._relay = Relay()
        self._rpc: Rpc | None = None
        self._said: asyncio.Queue[Json] = asyncio.Queue(_ROOM)
        self._has_missed = False
        self._is_over: Exception | None = None
        self._requested = asyncio.Condition()
        self._answered: set[int | str] = set()
        """Requests of this connection to which an answer was given, whether or not it was heard."""

    async def absence(self) -> str:
        return "" if self._is_settled() else "no app-server runs for this home"

    async def converse(self, group: asyncio.TaskGroup) -> None:
        try:
            await self._converse(group)
        finally:
            async with self._requested:
                self._relay.requests.clear()
                self._requested.notify_all()

    def lost(self) -> list[Record]:
        return self._relay.lost(self._faces(), self._clock.now())

    def line(self, process: Process) -> ThreadLine | None:
        thread = self.thread_of(process.pid)
        return ThreadLine(self, thread, self._clock) if thread else None

    def look_again(self) -> None:
        """Another Codex lives, or one less: its threads are asked for now rather than later."""
        self._take(_STIR)

    async def threads(self) -> list[Json]:
        """The newest threads of this home, as the server describes them."""
        return _items(await self._line().ask("thread/list", {"limit": _PAGE}))

    def thread_of(self, pid: int) -> str:
        """The thread that this process is proven to show; empty where none is, or the server is not heard."""
        return self._relay.threads.shown_by(pid, self._faces()) if self._rpc is not None else ""

    async def ask(self, method: str, params: Mapping[str, object]) -> Json:
        """What the gate wants; nobody else asks for anything that changes something."""
        return await self._line().ask(method, params)

    async def reply(self, request: Json, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once. False where it no longer waits, as it was, on this very connection."""
        number = request.get("id")
        if self._rpc is None or not isinstance(number, int | str) or self._relay.requests.get(number) != request:
            return False
        if number in self._answered:
            return False
        self._answered.add(number)
        await self._rpc.reply(number, result)
        return True

    async def request_in(self, thread: str, known: Collection[str] = (), seconds: float = _WAIT_FOR_REQUEST) -> Json:
        """The request in a thread that is followed which waits for an answer. Raises TimedOut if there is none."""
        try:
            async with asyncio.timeout(seconds), self._requested:
                while (found := self._waiting(thread, known)) is None:
                    await self._requested.wait()
                return found
        except TimeoutError as error:
            raise TimedOut(f"nothing waits for an answer in the thread {thread}") from error

    async def until_resolved(self, request: Json) -> bool:
        """Whether the request was answered, by us or by somebody else; False when the server cannot be heard."""
        number, rpc = request.get("id"), self._rpc
        async with self._requested:
            while isinstance(number, int | str) and self._relay.requests.get(number) == request:
                await self._requested.wait()
        return rpc is not None and rpc is self._rpc

    def _waiting(self, thread: str, known: Collection[str]) -> Json | None:
        requests = [one for one in self._relay.requests.values() if name_of(one) not in known]
        return next((one for one in requests if text(inside(one, "params"), "threadId") == thread), None)

    def _line(self) -> Rpc:
        if self._rpc is None:
            raise Unavailable("Codex' app-server is not connected", hint="Answer in the pane itself.")
        return self._rpc

    def _faces(self) -> list[Face]:
        return [*self._means.faces(), *self._elsewhere]

    async def _look_around(self) -> None:
        """Whose a new thread is depends on all who could have begun it."""
        self._elsewhere = await self._means.others()

    def _is_settled(self) -> bool:
        try:
            born = os.stat(self.where).st_mtime_ns
        except OSError:
            return False
        return abs(self._clock.now() - born) >= SETTLED * NS  # the clock may have been set back

    async def _converse(self, group: asyncio.TaskGroup) -> None:
        async with asyncio.timeout(_CONNECT_WITHIN):
            socket = await connect(self.where)
        self._answered.clear()
        self._said, self._is_over, rpc = asyncio.Queue(_ROOM), None, Rpc(socket, self._take)
        listening = group.create_task(self._listen(rpc))
        try:
            await self._observe(rpc)
        finally:
            self._rpc = None
            listening.cancel()
            await socket.close()

    async def _listen(self, rpc: Rpc) -> None:
        """Never fails: that the connection ended is said like everything else."""
        try:
            await rpc.listen()
        except Exception as error:  # whatever is wrong with this one, the others go on
            self._is_over = error
            self._take(_STIR)

    def _take(self, message: Json) -> None:
        self._has_missed = self._has_missed or self._said.full()
        if not self._said.full():
            self._said.put_nowait(message)

    async def _observe(self, rpc: Rpc) -> None:
        await rpc.ask("initialize", {"clientInfo": _CLIENT, "capabilities": {"experimentalApi": True}})
        await rpc.tell("initialized")
        self._rpc = rpc
        while True:
            await self._list(rpc)
            await self._hear_for(rpc, LIST_EVERY)

    async def _hear_for(self, rpc: Rpc, seconds: float) -> None:
        """What is said, until it is time for a list, or somebody wants one."""
        until = self._clock.monotonic() + seconds
        while (left := until - self._clock.monotonic()) > 0 and not self._relay.is_puzzled and not self._has_missed:
            try:
                async with asyncio.timeout(left):
                    message = await self._said.get()
            except TimeoutError:
                return
            if self._is_over is not None:
                raise self._is_over
            if message is _STIR:
                return
            await self._tell(rpc, message)

    async def _tell(self, rpc: Rpc, message: Json) -> None:
        now = self._clock.now()
        if sent := number(message, "emittedAtMs"):
            self._lag = max(0.0, now / NS - sent / 1000)
        if text(message, "method") == "thread/started":
            await self._look_around()
        await self._hand_on(self._relay.take(message, self._faces(), now))
        async with self._requested:
            self._requested.notify_all()
        if self._relay.ended is not None:
            await self._ask_how_it_ended(rpc, *self._relay.ended)

    async def _ask_how_it_ended(self, rpc: Rpc, thread: str, expected: str) -> None:
        """The end of a turn is told before it is written down: until then the answer is another one.

        An interrupted turn is not asked for long: that it rests was told already, and that is all there is to tell.
        """
        for pause in _WRITTEN_WITHIN:
            turn = await self._last_turn(rpc, thread)
            if text(turn, "status") == expected:
                await self._hand_on(self._relay.turn(thread, turn, self._faces(), self._clock.now()))
                return
            await self._clock.sleep(pause)

    async def _last_turn(self, rpc: Rpc, thread: str) -> Json:
        wanted = {"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "summary"}
        try:
            turns = _items(await rpc.ask("thread/turns/list", wanted))
        except (BadRequest, TimedOut) as error:
            log.info("%s: %s", self.where, error.message)
            return {}
        return turns[0] if turns else {}

    async def _list(self, rpc: Rpc) -> None:
        """All threads that live, also those in which nothing was said yet."""
        self._relay.is_puzzled = self._has_missed = False
        found = _items(await rpc.ask("thread/list", {"limit": _PAGE}))
        found += [
            await self._read(rpc, thread) for thread in await self._fresh(rpc, {text(one, "id") for one in found})
        ]
        if any(not self._relay.threads.is_settled(text(one, "id")) for one in found):
            await self._look_around()
        faces, now = self._faces(), self._clock.now()
        records = [record for thread in reversed(found) for record in self._relay.listed(thread, faces, now)]
        self._means.well(self._conflicts(faces), self._lag)
        await self._hand_on(records)

    async def _fresh(self, rpc: Rpc, listed: set[str]) -> list[str]:
        """Threads that live but are in no list yet, and of which nothing is known."""
        loaded = (await rpc.ask("thread/loaded/list", {})).get("data")
        ids = [one for one in loaded if isinstance(one, str)] if isinstance(loaded, list) else []
        return [one for one in ids if one not in listed and not self._relay.threads.knows(one)][:_PAGE]

    async def _read(self, rpc: Rpc, thread: str) -> Json:
        """One that may not be read is one that Codex keeps for itself."""
        try:
            return inside(await rpc.ask("thread/read", {"threadId": thread}), "thread")
        except BadRequest:
            return {"id": thread, "ephemeral": True}

    def _conflicts(self, faces: Sequence[Face]) -> str:
        folders = self._relay.threads.conflicts(faces)
        return "; ".join(
            f"more than one Codex may have begun threads in {one}: whose they are is not proven" for one in folders
        )

    async def _hand_on(self, records: list[Record]) -> None:
        if records:
            await self._means.told(records)


def _items(answer: Json) -> list[Json]:
    data = answer.get("data")
    return [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
