"""One thread of an app-server, for the gate to speak in: each wish as the requests that Codex knows."""

import os
import shlex
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import msgspec

from termvisor.agents.adapters.codex import keyboard
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.server_contract import PermissionRequest
from termvisor.clock import Clock
from termvisor.errors import TimedOut, Unavailable, VisorError

STOP_TIMEOUT_S = 5.0
_POLL_INTERVAL_S = 0.1
_TOOLS_BY_METHOD = dict(zip(keyboard.APPROVAL_METHODS, ("shell", "apply_patch", "permissions"), strict=True))
_OMITTED_FIELDS = ("threadId", "turnId", "itemId", "command", "cwd", "availableDecisions", "approvalId")
_SHELL_PROGRAMS = frozenset({"bash", "sh", "zsh", "dash"})


class CodexConnection(Protocol):
    """A server that is heard."""

    async def send_request(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """The server's answer. Raises BadRequest for an error, TimedOut or Unavailable where nothing is known."""

    async def wait_for_request(self, thread: str, known_ids: Collection[str] = ()) -> JsonObject:
        """The request in a thread that is followed which waits for an answer, but none of those.

        Raises TimedOut for none.
        """

    async def send_reply(self, request: JsonObject, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once; False where it no longer waits."""

    async def wait_until_resolved(self, request: JsonObject) -> bool:
        """Whether it was answered, by anybody; False when the server cannot be heard."""


class CodexSessionControl:
    """The thread is proven to be the one that its pane shows."""

    def __init__(self, connection: CodexConnection, thread: str, clock: Clock):
        self._connection, self.session, self._clock = connection, thread, clock
        self._pending_requests: dict[str, JsonObject] = {}

    @asynccontextmanager
    async def wait_for_request(self, known_ids: Collection[str] = ()) -> AsyncIterator[PermissionRequest]:
        """The thread is followed while it waits: only so are its requests told, and only so are answers heard."""
        await self._send_request(keyboard.build_follow_request(self.session))
        try:
            request = await self._connection.wait_for_request(self.session, known_ids)
            if keyboard.build_approval_reply(request) is None or keyboard.build_denial_reply(request) is None:
                raise TimedOut("what waits there is no yes or no")
            plea = build_permission_request(request)
            self._pending_requests[plea.id] = request
            yield plea
        finally:
            with suppress(VisorError):
                await self._send_request(keyboard.build_unfollow_request(self.session))

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        request = self._pending_requests.get(permission_request.id, {})
        reply = keyboard.build_approval_reply(request) if decision == "allow" else keyboard.build_denial_reply(request)
        return reply is not None and await self._connection.send_reply(request, reply.result)

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        return await self._connection.wait_until_resolved(self._pending_requests.get(permission_request.id, {}))

    def can_prompt(self, pane_title: str) -> bool:
        """Whatever the title: whose thread it is was proven."""
        return True

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        answer = await self._send_request(keyboard.build_prompt_request(self.session, prompt_text))
        return bool(get_str(get_object(answer, "turn"), "id"))

    async def stop_turn(self) -> bool | None:
        try:
            turn = await self._find_running_turn()
        except (TimedOut, Unavailable):  # nothing was done yet
            return None
        return await self._interrupt_turn(turn) if turn else None

    async def _interrupt_turn(self, turn: str) -> bool:
        await self._send_request(keyboard.build_stop_request(self.session, turn))
        until = self._clock.monotonic() + STOP_TIMEOUT_S
        while self._clock.monotonic() < until:
            if await self._find_running_turn() != turn:
                return True
            await self._clock.sleep(_POLL_INTERVAL_S)
        return False

    async def _find_running_turn(self) -> str:
        """The turn that it is at; empty where it is at none."""
        found = (await self._send_request(keyboard.build_last_turn_request(self.session))).get("data")
        turn = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
        return get_str(turn, "id") if get_str(turn, "status") == "inProgress" else ""

    async def _send_request(self, request: keyboard.CodexRequest) -> JsonObject:
        return await self._connection.send_request(request.method, request.params)


def build_request_id(request: JsonObject) -> str:
    return f"{request.get('id')}:{get_str(get_object(request, 'params'), 'itemId')}"


def build_permission_request(request: JsonObject) -> PermissionRequest:
    params = get_object(request, "params")
    command = params.get("command")
    rest = {name: value for name, value in params.items() if name not in _OMITTED_FIELDS and value is not None}
    return PermissionRequest(
        id=build_request_id(request),
        tool=_TOOLS_BY_METHOD.get(get_str(request, "method"), "other"),
        command=_extract_shell_script(
            shlex.join(map(str, command)) if isinstance(command, list) else get_str(params, "command")
        ),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=get_str(params, "cwd"),
    )


def _extract_shell_script(command: str) -> str:
    """What the shell runs that Codex starts for every command; a policy and a person read that."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and os.path.basename(words[0]) in _SHELL_PROGRAMS and words[1] in ("-lc", "-c")
    return words[2] if is_shell else command
