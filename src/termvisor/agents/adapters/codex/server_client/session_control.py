"""One thread of an app-server, for the gate to speak in: each wish as the requests that Codex knows."""

import os
import shlex
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import msgspec

from termvisor.agents.adapters.codex import keyboard as channel
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.json_access import Json, inside, text
from termvisor.agents.adapters.server_contract import Plea
from termvisor.clock import Clock
from termvisor.errors import TimedOut, Unavailable, VisorError

STOPPED_WITHIN = 5.0
_LOOK_FOR = 0.1
_TOOLS = dict(zip(channel.APPROVALS, ("shell", "apply_patch", "permissions"), strict=True))
_NOT_GIVEN = ("threadId", "turnId", "itemId", "command", "cwd", "availableDecisions", "approvalId")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


class Connection(Protocol):
    """A server that is heard."""

    async def ask(self, method: str, params: Mapping[str, object]) -> Json:
        """The server's answer. Raises BadRequest for an error, TimedOut or Unavailable where nothing is known."""

    async def request_in(self, thread: str, known: Collection[str] = ()) -> Json:
        """The request in a thread that is followed which waits for an answer, but none of those.

        Raises TimedOut for none.
        """

    async def reply(self, request: Json, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once; False where it no longer waits."""

    async def until_resolved(self, request: Json) -> bool:
        """Whether it was answered, by anybody; False when the server cannot be heard."""


class ThreadLine:
    """The thread is proven to be the one that its pane shows."""

    def __init__(self, connection: Connection, thread: str, clock: Clock):
        self._connection, self.session, self._clock = connection, thread, clock
        self._waiting: dict[str, Json] = {}

    @asynccontextmanager
    async def plea(self, known: Collection[str] = ()) -> AsyncIterator[Plea]:
        """The thread is followed while it waits: only so are its requests told, and only so are answers heard."""
        await self._ask(channel.follow(self.session))
        try:
            request = await self._connection.request_in(self.session, known)
            if channel.approve(request) is None or channel.deny(request) is None:
                raise TimedOut("what waits there is no yes or no")
            plea = plea_of(request)
            self._waiting[plea.id] = request
            yield plea
        finally:
            with suppress(VisorError):
                await self._ask(channel.unfollow(self.session))

    async def answer(self, plea: Plea, decision: Decision) -> bool:
        request = self._waiting.get(plea.id, {})
        reply = channel.approve(request) if decision == "allow" else channel.deny(request)
        return reply is not None and await self._connection.reply(request, reply.result)

    async def until_answered(self, plea: Plea) -> bool:
        return await self._connection.until_resolved(self._waiting.get(plea.id, {}))

    def may_prompt(self, title: str) -> bool:
        """Whatever the title: whose thread it is was proven."""
        return True

    async def prompt(self, words: str, title: str) -> bool:
        answer = await self._ask(channel.prompt(self.session, words))
        return bool(text(inside(answer, "turn"), "id"))

    async def stop(self) -> bool | None:
        try:
            turn = await self._running()
        except (TimedOut, Unavailable):  # nothing was done yet
            return None
        return await self._stopped(turn) if turn else None

    async def _stopped(self, turn: str) -> bool:
        await self._ask(channel.stop_turn(self.session, turn))
        until = self._clock.monotonic() + STOPPED_WITHIN
        while self._clock.monotonic() < until:
            if await self._running() != turn:
                return True
            await self._clock.sleep(_LOOK_FOR)
        return False

    async def _running(self) -> str:
        """The turn that it is at; empty where it is at none."""
        found = (await self._ask(channel.last_turn(self.session))).get("data")
        turn = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
        return text(turn, "id") if text(turn, "status") == "inProgress" else ""

    async def _ask(self, wish: channel.Ask) -> Json:
        return await self._connection.ask(wish.method, wish.params)


def name_of(request: Json) -> str:
    return f"{request.get('id')}:{text(inside(request, 'params'), 'itemId')}"


def plea_of(request: Json) -> Plea:
    params = inside(request, "params")
    command = params.get("command")
    rest = {name: value for name, value in params.items() if name not in _NOT_GIVEN and value is not None}
    return Plea(
        id=name_of(request),
        tool=_TOOLS.get(text(request, "method"), "other"),
        command=_script(shlex.join(map(str, command)) if isinstance(command, list) else text(params, "command")),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=text(params, "cwd"),
    )


def _script(command: str) -> str:
    """What the shell runs that Codex starts for every command; a policy and a person read that."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-lc", "-c")
    return words[2] if is_shell else command
