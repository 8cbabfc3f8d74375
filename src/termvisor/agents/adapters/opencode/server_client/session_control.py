"""One opencode, for the gate to speak to by its server: each wish as the request that opencode knows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.json_access import Json, inside, text
from termvisor.agents.adapters.opencode import keyboard as channel
from termvisor.agents.adapters.opencode.server_client.http import Answer
from termvisor.agents.adapters.opencode.server_events import Relay
from termvisor.agents.adapters.server_contract import Plea
from termvisor.errors import BadRequest, TimedOut, Unavailable

BEGUN_WITHIN = STOPPED_WITHIN = 5.0
_GONE = 404
_SHOWN_AT_MOST = 20_000
"""Letters of a text in a request that a person is shown; a change of files may be long."""
_NAMED = "OC | "
_TITLE, _CUT = 40, 37
"""Letters of a session's title that the pane's title has room for; of a longer one so many stand there."""


class Connection(Protocol):
    """A server that is heard."""

    relay: Relay
    is_heard: bool
    is_whole: bool
    changed: asyncio.Condition

    async def post(self, path: str, body: Mapping[str, object]) -> Answer:
        """Raises Unavailable or TimedOut where it is not known what came of it."""


class SessionLine:
    def __init__(self, connection: Connection, cwd: str):
        self._connection, self._cwd = connection, cwd
        self.session = connection.relay.latest

    @property
    def _relay(self) -> Relay:
        return self._connection.relay

    @asynccontextmanager
    async def plea(self, known: Collection[str] = ()) -> AsyncIterator[Plea]:
        """The oldest."""
        waiting = next((one for name, one in self._relay.permissions.items() if _is_new(name, known)), None)
        if waiting is None:
            raise TimedOut("nothing waits for leave there")
        yield plea_of(waiting, self._cwd)

    async def answer(self, plea: Plea, decision: Decision) -> bool:
        wish = channel.reply(plea.id, decision)
        if wish is None or plea.id not in self._relay.permissions:
            return False
        answer = await self._connection.post(wish.path, wish.body)
        if not answer.is_taken and answer.status != _GONE:
            raise Unavailable(f"its server answers with status {answer.status}")
        return answer.is_taken

    async def until_answered(self, plea: Plea) -> bool:
        async with self._connection.changed:
            while plea.id in self._relay.permissions:
                await self._connection.changed.wait()
        return self._connection.is_heard

    def may_prompt(self, title: str) -> bool:
        return bool(self._shown_under(title))

    async def prompt(self, words: str, title: str) -> bool:
        session = self._shown_under(title)
        wish = channel.prompt(session, words)
        if wish is None or session in self._relay.statuses:
            raise BadRequest("the session that the pane shows is not known to rest")
        answer = await self._connection.post(wish.path, wish.body)
        if not answer.is_taken:
            raise BadRequest(f"its server answers with status {answer.status}")
        return await self._until(lambda: session in self._relay.statuses, BEGUN_WITHIN)

    async def stop(self) -> bool | None:
        """Only where one alone is at work: of several, the keys stop the one that is shown."""
        session = self._relay.at_work[0] if len(self._relay.at_work) == 1 else ""
        wish = channel.abort(session)
        if wish is None:
            return None
        answer = await self._connection.post(wish.path, wish.body)
        if not answer.is_taken:
            raise Unavailable(f"its server answers with status {answer.status}")
        return await self._until(lambda: session not in self._relay.statuses, STOPPED_WITHIN)

    async def _until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds), self._connection.changed:
                while not is_so() and self._connection.is_heard:
                    await self._connection.changed.wait()
        except TimeoutError:
            return False
        return is_so() and self._connection.is_heard

    def _shown_under(self, title: str) -> str:
        """The session that the pane's title names, where no other could be meant: it changes when another is shown."""
        name = title.removeprefix(_NAMED) if title.startswith(_NAMED) and self._connection.is_whole else ""
        fitting = [one for one, known in self._relay.titles.items() if name and _as_shown(known) == name]
        return fitting[0] if len(fitting) == 1 else ""


def _is_new(name: str, known: Collection[str]) -> bool:
    return name not in known and channel.reply(name, "deny") is not None


def plea_of(waiting: Json, cwd: str) -> Plea:
    about = inside(waiting, "metadata")
    rest = {name: _shown(value) for name, value in about.items() if name != "command"}
    asked = {"patterns": waiting.get("patterns"), **rest}
    return Plea(
        id=text(waiting, "id"),
        tool=text(waiting, "permission") or "other",
        command=text(about, "command"),
        given=msgspec.json.encode(asked).decode(),
        cwd=cwd,
    )


def _shown(value: object) -> object:
    return value[:_SHOWN_AT_MOST] + "…" if isinstance(value, str) and len(value) > _SHOWN_AT_MOST else value


def _as_shown(title: str) -> str:
    return f"{title[:_CUT]}…" if len(title) > _TITLE else title
