"""The HTTP server of one opencode: what it tells of its sessions becomes records.

It observes: it hears the events, and asks for lists, first and now and then. It answers nothing, unless the gate wants
it. Which port is that process' own, the kernel tells; none is guessed.
"""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.adapters.json_access import MILLISECOND, Json, parsed
from termvisor.agents.adapters.opencode.process_match import port_of
from termvisor.agents.adapters.opencode.server_client.http import Answer, call, events
from termvisor.agents.adapters.opencode.server_client.session_control import SessionLine
from termvisor.agents.adapters.opencode.server_events import Lists, Relay, Word
from termvisor.agents.adapters.server_contract import Face, Means
from termvisor.clock import NS
from termvisor.errors import Unavailable
from termvisor.model.agent.signal import Hint

SOURCE = "server"
SILENT_FOR = 30.0
"""Seconds without a word after which it is not heard: it says that it lives every ten."""
LIST_EVERY = 60.0
SURE_AFTER = 2.0
"""Seconds after which a list that tells of an end which no event told is asked for again, and then believed."""
_PAGE = 1000
_ROOM = 2000
_LOOK_FIRST, _LOOK_LONGEST = 2.0, 60.0
_DEAF = "it listens on no port: started with `--port`, it would tell all by itself, and take answers"
_SEVERAL = "it listens on several ports, and its command line does not say which one is its server"


class EventServer:
    def __init__(self, place: str, means: Means):
        self.where = place
        self._means, self._clock = means, means.clock
        self._port = 0
        self._look_at, self._pause, self._why = 0.0, _LOOK_FIRST, ""
        self._said: asyncio.Queue[str | Exception] = asyncio.Queue(_ROOM)
        self._has_missed = self._is_doubted = False
        self._lag: float | None = None
        self._told_at = 0
        self.relay = Relay()
        self.is_heard = False
        self.is_whole = False
        """Whether all of its sessions are known."""
        self.changed = asyncio.Condition()

    async def absence(self) -> str:
        """The kernel is not asked all the time for one that was not told to listen."""
        now, face = self._clock.monotonic(), self._face
        if face is None:
            return "it has ended"
        wanted = port_of(face.process)
        if now < self._look_at and not wanted:
            return self._why
        self._look_at, self._pause = now + self._pause, min(_LOOK_LONGEST, self._pause * 2)
        ports = await self._means.ports(face.process)
        self._port = wanted if wanted in ports else ports[0] if len(ports) == 1 and not wanted else 0
        self._why = "" if self._port else _SEVERAL if ports and not wanted else _DEAF
        return self._why

    async def converse(self, group: asyncio.TaskGroup) -> None:
        self._said = asyncio.Queue(_ROOM)
        self._has_missed = self._is_doubted = False
        listening = group.create_task(self._listen())
        try:
            await self._observe()
        finally:
            self.is_heard = False
            listening.cancel()
            async with self.changed:
                self.relay.permissions.clear()
                self.changed.notify_all()

    def lost(self) -> Sequence[Record]:
        return self._records(self.relay.lost())

    def look_again(self) -> None:
        self._look_at, self._pause = 0.0, _LOOK_FIRST

    def line(self, process: Process) -> SessionLine | None:
        face = self._face
        is_it = face is not None and face.process.pid == process.pid
        return SessionLine(self, process.cwd) if is_it and self.is_heard else None

    async def post(self, path: str, body: Mapping[str, object]) -> Answer:
        """What the gate wants; nobody else says anything that changes something."""
        if not self.is_heard:
            raise Unavailable("opencode's server is not heard", hint="Answer in the pane itself.")
        await self._prove()
        return await call(self._port, path, body)

    @property
    def _face(self) -> Face | None:
        return next(iter(self._means.faces()), None)

    async def _prove(self) -> None:
        """That it is still this very process that listens there."""
        face = self._face
        if face is None or self._port not in await self._means.ports(face.process):
            raise Unavailable("the port is no longer that of this process")

    async def _listen(self) -> None:
        """Never fails: that the connection ended is said like everything else."""
        try:
            async with events(self._port, "/event", SILENT_FOR) as told:
                await self._prove()
                async for several, dropped in told:
                    self._has_missed = self._has_missed or bool(dropped)
                    for one in several:
                        self._take(one)
        except Exception as error:  # whatever is wrong with this one, the others go on
            self._is_over(error)

    def _take(self, one: str) -> None:
        if self._said.full():
            self._has_missed = True
        else:
            self._said.put_nowait(one)

    def _is_over(self, error: Exception) -> None:
        if self._said.full():
            self._said.get_nowait()
        self._said.put_nowait(error)

    async def _observe(self) -> None:
        """Lists come after the first word: whatever changes while they are written is told by an event then."""
        await self._tell(await self._said.get())
        await self._list()
        self.is_heard = True
        until = self._clock.monotonic() + LIST_EVERY
        while True:
            said = await self._next(until - self._clock.monotonic())
            if said is not None:
                await self._tell(said)
            if self._has_missed:
                raise Unavailable("some of what it said was too long, or came too fast: all is asked anew")
            if self._clock.monotonic() >= until:
                is_sure = await self._list_again()
                until = self._clock.monotonic() + (LIST_EVERY if is_sure else SURE_AFTER)

    async def _next(self, seconds: float) -> str | Exception | None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                return await self._said.get()
        except TimeoutError:
            return None

    async def _tell(self, said: str | Exception) -> None:
        if isinstance(said, Exception):
            raise said
        event, now = parsed(said), self._clock.now()
        words = self.relay.take(event, now) if event is not None else []
        if words and words[0].at:
            self._lag = max(0.0, now / NS - words[0].at / 1000)
            self._means.well("", self._lag)
        await self._hand_on(words)

    async def _list(self) -> None:
        words = self.relay.listed(await self._lists())
        self._means.well("", self._lag)
        await self._hand_on(words)

    async def _list_again(self) -> bool:
        """Whether it is sure: what is on its way counts more, and an end that no event told is looked at twice."""
        lists = await self._lists()
        if not self._said.empty():
            return True
        if self.relay.would_end(lists) and not self._is_doubted:
            self._is_doubted = True
            return False
        self._is_doubted = False
        await self._hand_on(self.relay.listed(lists))
        return True

    async def _lists(self) -> Lists:
        sessions = await self._asked(f"/session?limit={_PAGE}")
        self.is_whole = isinstance(sessions, list) and len(sessions) < _PAGE
        statuses = await self._asked("/session/status")
        return Lists(
            sessions=_objects(sessions),
            statuses={name: one for name, one in statuses.items() if isinstance(one, dict)}
            if isinstance(statuses, dict)
            else {},
            permissions=_objects(await self._asked("/permission")),
            questions=_objects(await self._asked("/question")),
        )

    async def _asked(self, path: str) -> object:
        answer = await call(self._port, path)
        if not answer.is_taken:
            raise Unavailable(f"its server answers {path} with status {answer.status}")
        if not isinstance(answer.value, list | dict):
            raise Unavailable(f"its server answers {path} with what is no list")
        return answer.value

    async def _hand_on(self, words: Sequence[Word]) -> None:
        async with self.changed:
            self.changed.notify_all()
        if records := self._records(words):
            await self._means.told(records)

    def _records(self, words: Sequence[Word]) -> list[Record]:
        face = self._face
        if face is None:
            return []
        hint = Hint(pid=face.process.pid, pid_started=face.process.pid_started)
        now = self._clock.now()
        return [Record(source=SOURCE, text=self._in_order(word, now).text, at=now, hint=hint) for word in words]

    def _in_order(self, word: Word, now: int) -> Word:
        """A word that was long on its way comes behind a list that was asked for meanwhile, and is no older for us."""
        self._told_at = max(self._told_at, word.at or now // MILLISECOND)
        return replace(word, at=self._told_at)


def _objects(found: object) -> list[Json]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
